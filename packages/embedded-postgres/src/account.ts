/**
 * Which account runs Postgres: ourselves, except for root, as which it refuses to run.
 * Root prefers a user namespace in which it goes by another number: the data then belongs to root, and no other account of
 * the machine has a part in it. Where the machine forbids that, an account without rights runs it, and the folder of the
 * data, with the socket, belongs to that account.
 */
import { lstat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import type { Binaries } from './binaries.ts';
import { EmbeddedPostgresError, reasonOf } from './errors.ts';
import type { Folder } from './folder.ts';
import { type PasswdEntry, readPasswd } from './passwd.ts';
import { type Runner, run } from './program.ts';

type Account = Omit<Runner, 'environment'>;

/** What the kernel shows in a user namespace for everyone who has no number there. */
const OVERFLOW_UID = 65_534;

/**
 * Finds an account that can run Postgres in the folder.
 * @throws {EmbeddedPostgresError} if none can, with what came of trying each.
 */
export async function chooseRunner(
  folder: Folder,
  { postgres, environment }: Binaries,
  signal: AbortSignal,
): Promise<Runner> {
  const candidates =
    process.geteuid?.() === 0
      ? rootCandidates(await readPasswd(), await lstat(folder.data).catch(() => undefined))
      : [ourselves()];
  const refusals: string[] = [];
  for (const account of candidates) {
    const runner = { ...account, environment };
    const reach = ['/bin/sh', '-c', 'cd "$1" && exec "$2" --version', 'sh', folder.path, postgres];
    const trial = await run(runner, reach, signal);
    signal.throwIfAborted();
    if (trial.ok) return runner;
    refusals.push(`  ${account.name}: ${trial.output.replaceAll('\n', ' · ')}`);
  }
  throw new EmbeddedPostgresError(
    `the embedded Postgres cannot be run in ${folder.path}. Tried:\n${refusals.join('\n')}`,
  );
}

function ourselves(): Account {
  try {
    return { name: 'as this user', prefix: [], client: userInfo().username };
  } catch (cause) {
    throw new EmbeddedPostgresError(
      `this user has no name, and Postgres needs one: ${reasonOf(cause)}`,
      undefined,
      cause,
    );
  }
}

/**
 * The ways for root to run Postgres, the best one first. Data that is there keeps its owner.
 * Accounts are never made.
 */
export function rootCandidates(
  passwd: readonly PasswdEntry[],
  owner: { readonly uid: number; readonly gid: number } | undefined,
): Account[] {
  const client = passwd.find(({ uid }) => uid === 0)?.name ?? 'root';
  // initdb wants a name for its number; and strangers, whom the kernel shows as the overflow number, must not have ours.
  const mask = passwd.find(({ uid }) => uid !== 0 && uid !== OVERFLOW_UID);
  const namespace = mask && {
    name: 'in a user namespace',
    prefix: ['unshare', '--user', `--map-user=${mask.uid}`, `--map-group=${mask.gid}`, '--'],
    client: mask.name,
  };
  const as = (name: string, { uid, gid }: { uid: number; gid: number }): Account => {
    return { name: `as ${name}`, identity: { uid, gid }, prefix: [], client };
  };
  if (owner && owner.uid !== 0) {
    const known = passwd.find(({ uid }) => uid === owner.uid);
    return [as(known?.name ?? `uid ${owner.uid}`, owner)];
  }
  const others = ['postgres', 'nobody'].flatMap((name) =>
    passwd.filter((entry) => entry.name === name).map((entry) => as(name, entry)),
  );
  return [...(namespace ? [namespace] : []), ...(owner ? [] : others)];
}
