/** A connection for one piece of work: a look at the schema, migrations. */
import type pg from 'pg';
import { type Host, hostsOf, mustTakeWrites } from '../../hosts.ts';
import { Client } from './client.ts';
import { firstThatTakesWrites, requireWrites } from './primary.ts';
import { namedConnectError, namedError } from './sqlstate.ts';

/** After so long without a sign, whether the other side still lives is asked: a migration may take hours. */
const SIGN_OF_LIFE_MS = 10_000;
/** How long connecting may take. */
const LONGEST_CONNECT_MS = 10_000;

/** How long a silent server is waited for, to connect and to answer; milliseconds. */
type Limits = Pick<pg.ClientConfig, 'connectionTimeoutMillis' | 'query_timeout'>;

/** Does a piece of work on a connection to the host that takes writes. */
export async function withClient<T>(
  url: string,
  work: (client: pg.Client) => Promise<T>,
  limits: Limits = {},
): Promise<T> {
  const mustWrite = mustTakeWrites(url);
  const { result: client } = await firstThatTakesWrites(hostsOf(url), (host) =>
    connect(host.url, limits, mustWrite),
  );
  try {
    return await work(client);
  } catch (error) {
    throw namedError(error);
  } finally {
    await client.end().catch(() => {});
  }
}

/** What is found at each host of a URL that names several; nothing where it names one. */
export async function lookAtHosts(
  url: string,
  limitMs: number,
): Promise<readonly (Pick<Host, 'name'> & { readonly error: Error | null })[]> {
  const hosts = hostsOf(url);
  if (hosts.length === 1) return [];
  const limits = { connectionTimeoutMillis: limitMs };
  return Promise.all(
    hosts.map(async ({ name, url: own }) => {
      try {
        const client = await connect(own, limits, true);
        await client.end().catch(() => {});
        return { name, error: null };
      } catch (error) {
        return { name, error: error as Error };
      }
    }),
  );
}

async function connect(url: string, limits: Limits, mustWrite: boolean): Promise<pg.Client> {
  let client: pg.Client | undefined;
  try {
    // The files that the URL names are read here.
    client = new Client({
      connectionString: url,
      connectionTimeoutMillis: LONGEST_CONNECT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: SIGN_OF_LIFE_MS,
      ...limits,
    });
    client.on('error', () => {});
    await client.connect();
    if (mustWrite)
      await requireWrites(client, limits.connectionTimeoutMillis ?? LONGEST_CONNECT_MS);
    return client;
  } catch (error) {
    await client?.end().catch(() => {});
    throw namedConnectError(error);
  }
}
