/** Exports a random server as a scheduled worker would in the course of days, killed on the way where its nature says so. */

import { Dice, mix } from '../../../simulator/random.ts';
import type { Clock } from '../../../src/clock.ts';
import { silentLogger } from '../../../src/log.ts';
import type { Stream } from '../../../src/model.ts';
import { openSource } from '../../../src/source/source.ts';
import { backfill, type ExportOptions } from '../../../src/walk/run.ts';
import { EVENTS, exporterParts, OPTIONS } from '../../support/exporter.ts';
import { letTimePass } from '../../support/pass-time.ts';
import { SOURCE } from '../../support/source-options.ts';
import { expireLeases } from '../../support/store.ts';
import { hastyClock } from '../hasty-clock.ts';
import { KilledError, Life, MortalDatabase } from '../mortality.ts';
import type { TrialDatabase } from '../trial.ts';
import type { Nature } from './nature.ts';
import type { RandomServer } from './server.ts';
import { FIRST_DAY, LAST_DAY } from './world.ts';

const HOUR = 3_600;
const DAY = 24 * HOUR;
/** Seconds between the passes: a little more than the looks need to become due. */
const PAUSES = [0, HOUR + 100, HOUR + 100, DAY + 100, DAY + 100, DAY + 100];
/** A pass that asks more than this goes round in circles. */
const MOST_REQUESTS = 3_000;
/** A worker is killed among its first moments, so many. */
const MOMENTS = [40, 150, 400];

/** What the passes were. */
export interface Passes {
  readonly kills: number;
  /** What stopped a pass, one text each; empty: it ended. */
  readonly stops: readonly string[];
}

/**
 * Runs all passes.
 * @param seen is called after each.
 */
export async function exportInPasses(
  nature: Nature,
  server: RandomServer,
  database: TrialDatabase,
  seen: () => Promise<void>,
): Promise<Passes> {
  const dice = new Dice(mix(31, nature.seed));
  const stops: string[] = [];
  let kills = 0;
  const clock = hastyClock(new Dice(mix(37, nature.seed)), (ms) => server.world.pass(ms / 1_000));
  for (const pause of PAUSES) {
    server.world.pass(pause);
    if (pause > 0) await letTimePass(database, `${pause} seconds`);
    for (;;) {
      const mortal = kills < nature.kills;
      const moment = 1 + dice.below(dice.pick(MOMENTS));
      const life = new Life(mortal ? moment : Infinity);
      const cutAt = nature.connectionCut ? moment : Infinity;
      const stop = await live(nature, server, database, clock, life, cutAt);
      if (!life.ended) {
        stops.push(stop);
        break;
      }
      kills += 1;
      await expireLeases(database);
    }
    await seen();
  }
  return { kills, stops };
}

/** One worker from its start to its end, or to its death. Returns what stopped it. */
async function live(
  nature: Nature,
  server: RandomServer,
  { url, query }: TrialDatabase,
  clock: Clock,
  life: Life,
  cutAt: number,
): Promise<string> {
  const database = new MortalDatabase(
    {
      url,
      connections: 4,
      statementTimeoutMs: 60_000,
      patienceMs: 20_000,
      clock,
      log: silentLogger,
    },
    life,
  );
  const source = openSource({
    ...SOURCE,
    baseUrl: server.url,
    key: 'demo-key',
    clock,
    connections: nature.concurrency,
  });
  const budget = new AbortController();
  const most = server.world.requests + MOST_REQUESTS;
  let fetched = 0;
  const fetchPage = life.fetching(async (request, given) => {
    fetched += 1;
    if (fetched === cutAt) await cutConnections(query);
    if (server.world.requests > most)
      budget.abort(new Error(`more than ${MOST_REQUESTS} requests`));
    return source.fetchPage(request, given);
  });
  const parts = exporterParts({ database, source, clock, fetchPage });
  const request = { from: FIRST_DAY, to: LAST_DAY, newestFirst: false };
  try {
    await backfill(
      parts,
      optionsOf(nature),
      request,
      AbortSignal.any([life.signal, budget.signal]),
    );
    return '';
  } catch (error) {
    if (error instanceof KilledError && !life.ended) throw error;
    const { name, message } = error as Error;
    return `${name}: ${message}`;
  } finally {
    await source.close();
    await database.close();
  }
}

const optionsOf = (nature: Nature): ExportOptions => ({
  ...OPTIONS,
  streams: [{ ...EVENTS, ...identityOf(nature) }],
  recheckDays: 100_000,
  concurrency: nature.concurrency,
  pageLength: nature.pageLength,
  leaseTtlMs: 30_000,
});

const identityOf = ({ idPath, envelope }: Nature): Pick<Stream, 'idPath'> =>
  idPath ? { idPath: envelope === 'elasticsearch' ? ['_id'] : ['id'] } : {};

/** As when the database fails over: every connection but our own ends. */
async function cutConnections(query: TrialDatabase['query']): Promise<void> {
  await query(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`,
  );
}
