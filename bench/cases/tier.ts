/** Case `tier`: days that move into a folder and come back, against writing the same Parquet to disk. */
import { mkdtemp, open, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/clock.ts';
import { silentLogger } from '../../src/log.ts';
import { Database } from '../../src/store/database.ts';
import { listMovedDays } from '../../src/store/moved-days.ts';
import { shownRecords } from '../../src/store/shown-records.ts';
import { EVENTS, PAGES } from '../../src/tier/day-objects.ts';
import { DeltaLog } from '../../src/tier/delta/delta-log.ts';
import { openFolderStore } from '../../src/tier/folder-store.ts';
import { moveDays } from '../../src/tier/move.ts';
import type { TierParts } from '../../src/tier/moved-log.ts';
import type { ObjectStore } from '../../src/tier/object-store.ts';
import { restoreDays } from '../../src/tier/restore.ts';
import { listDaysToMove, ownedBy, readLeavingDay } from '../../src/tier/rows.ts';
import { leavingPages } from '../../src/tier/tiered-page-rows.ts';
import type { Bench, Case, Row } from '../case.ts';
import type { Scratch } from '../databases.ts';
import { environmentOf } from '../exporter.ts';
import { mustBeWell, runDaywalk } from '../program.ts';
import { againstFloor, againstLimit, megabytes, seconds } from '../rows.ts';
import { inTurn, median, timed } from '../statistics.ts';
import { type Workload, withExported } from '../workload.ts';

const ROUNDS = 3;
/** Our own: what is written is read back, and its digests are recomputed. */
const MOST = { ratio: 1.8, text: '≤ 1.8 × floor' };
/** Five times as much may leave this much more of the heap unused. */
const FLAT = { ratio: 1.15, text: 'flat: ≤ 1.15 × that of a fifth' };
const PAGE_LENGTH = 1_000;

export const tier: Case = {
  name: 'tier',
  title: 'The tier',
  about:
    'Days move into a folder (`daywalk tier`): pages and records are written, read back and compared, put into the log of the table, said in Postgres, and the pages removed. Floor: the same rows read from Postgres and written to disk as the same Parquet, flushed, and nothing else. Memory is the peak resident set of `daywalk tier` in a process of its own.',
  limitMs: 600_000,
  async run(bench) {
    const workload = workloadOf(bench.quick ? 2 : 4, bench.quick ? 2 : 30);
    const rows = await withExported(bench, workload, (scratch) => inFolder(bench, scratch));
    const sizes = bench.quick ? [workloadOf(1, 1)] : [workloadOf(1, 120), workloadOf(1, 600)];
    const [less = 0, more] = await peaksOf(bench, sizes);
    const told = { format: megabytes, what: `peak memory, a day of ${sizeOf(sizes[0])}` };
    rows.push(againstLimit(told, [less], null));
    if (more !== undefined)
      rows.push(
        againstFloor({ ...told, what: `the same, of ${sizeOf(sizes[1])}` }, [more], [less], FLAT),
      );
    return { rows, notes: [`${bench.quick ? 1 : ROUNDS} rounds; of memory one.`] };
  },
  words: {
    reached:
      'Most of the time Postgres expands the pages and Parquet is compressed. Reading back, the digests and the transaction cost the rest; a row group is in memory at a time.',
    missed:
      'Most of the time Postgres expands the pages and Parquet is compressed; above the floor is reading back with another reader, its digests, and the removal of the pages. A row group is in memory at a time; what V8 leaves unused of its heap comes on top.',
  },
};

const workloadOf = (days: number, pagesPerDay: number): Workload => ({
  days,
  pagesPerDay,
  pageLength: PAGE_LENGTH,
});

/** Days move when their looks are over. */
const endLooks = ({ query }: Scratch) =>
  query(`update daywalk.windows set due_at = null where state = 'complete'`);

const sizeOf = (workload: Workload | undefined): string =>
  `${((workload?.pagesPerDay ?? 0) * PAGE_LENGTH).toLocaleString('en-US')} events`;

async function inFolder(bench: Bench, scratch: Scratch): Promise<Row[]> {
  const { url, query } = scratch;
  await endLooks(scratch);
  const root = await mkdtemp(join(tmpdir(), 'daywalk-bench-tier-'));
  const database = new Database({
    url,
    connections: 4,
    statementTimeoutMs: 60_000,
    patienceMs: 0,
    clock: systemClock,
    log: silentLogger,
  });
  const requests = { count: 0 };
  const store = counted(openFolderStore(root, systemClock), requests);
  const owner = ownedBy(database);
  const parts: TierParts = {
    database,
    store,
    log: new DeltaLog(store, systemClock, owner),
    clock: systemClock,
    signal: bench.signal,
  };
  try {
    const [received] = await query<{ bytes: string; days: string; stored: string }>(
      `select sum(bytes) as bytes, count(*) as days, (select sum(pg_total_relation_size(relid)) from pg_partition_tree('daywalk.pages')) as stored
         from daywalk.days`,
    );
    const mb = Number(received?.bytes) / 1e6;
    const back: number[] = [];
    let [written, asked] = [0, 0];
    const { floor, move } = await inTurn(bench.quick ? 1 : ROUNDS, {
      floor: () => timed(() => writeAll(parts, root)),
      move: async () => {
        bench.say('moving');
        requests.count = 0;
        const ms = await timed(() => moveAll(parts));
        asked = requests.count;
        written = await bytesBelow(root);
        back.push(await timed(() => restoreAll(parts)));
        await rm(root, { recursive: true });
        return ms;
      },
    });
    const rate = (ms: readonly number[]) =>
      `${((mb * 1000) / median(ms)).toFixed(1)} MB/s of what was received`;
    const days = Number(received?.days);
    const share = (bytes: number) => `${Math.round(bytes / 1e4 / mb)} %`;
    return [
      againstFloor(
        {
          what: `${days} days of ${Math.round(mb / days)} MB move`,
          format: seconds,
          also: rate(move),
        },
        move,
        floor,
        MOST,
      ),
      againstLimit({ what: 'they come back', format: seconds, also: rate(back) }, back, null),
      againstLimit(
        {
          what: 'bytes of objects',
          format: megabytes,
          also: `${share(written)} of what was received; in Postgres ${share(Number(received?.stored))}`,
        },
        [written],
        null,
      ),
      againstLimit(
        { what: 'requests a day', format: (count) => count.toFixed(1) },
        [asked / days],
        null,
      ),
    ];
  } finally {
    await database.close();
    await rm(root, { recursive: true, force: true });
  }
}

/** What a bucket would be asked for. */
const counted = (store: ObjectStore, requests: { count: number }): ObjectStore => {
  const one = <T>(result: T): T => {
    requests.count += 1;
    return result;
  };
  return {
    name: store.name,
    create: (...args) => one(store.create(...args)),
    replace: (...args) => one(store.replace(...args)),
    read: (...args) => one(store.read(...args)),
    size: (...args) => one(store.size(...args)),
    remove: (...args) => one(store.remove(...args)),
  };
};

const LIMITS = [{ stream: 'events', olderThanMs: 0 }];

async function moveAll(parts: TierParts): Promise<void> {
  const due = await listDaysToMove(parts.database, LIMITS, true);
  const { kept } = await moveDays(parts, due);
  if (kept.length > 0) throw new Error(`a day stays: ${kept[0]?.reason}`);
}

const restoreAll = async (parts: TierParts) =>
  restoreDays(parts, await listMovedDays(parts.database, null, null), 0);

/** Both files of each day, flushed. */
async function writeAll({ database, signal }: TierParts, root: string): Promise<void> {
  const path = `${root}-floor`;
  for (const due of await listDaysToMove(database, LIMITS, true)) {
    const leaving = await readLeavingDay(database, due);
    if (leaving === null) throw new Error(`${due.day} is not here`);
    for (const write of [
      (file: Awaited<ReturnType<typeof open>>) =>
        PAGES.write(file, leavingPages(database, leaving), signal),
      (file: Awaited<ReturnType<typeof open>>) =>
        EVENTS.write(file, shownRecords(database, leaving), signal),
    ]) {
      const file = await open(path, 'w');
      try {
        await write(file);
        await file.sync();
      } finally {
        await file.close();
        await rm(path);
      }
    }
  }
}

async function bytesBelow(root: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size;
  return bytes;
}

/** The peak resident set of the program that moves all days of each workload. */
async function peaksOf(bench: Bench, workloads: readonly Workload[]): Promise<number[]> {
  const peaks: number[] = [];
  for (const workload of workloads)
    peaks.push(
      await withExported(bench, workload, async (scratch, apiUrl) => {
        bench.say(`moving a day of ${sizeOf(workload)}`);
        await endLooks(scratch);
        const root = await mkdtemp(join(tmpdir(), 'daywalk-bench-tier-'));
        const order = { databaseUrl: scratch.url, apiUrl, concurrency: 4, pageLength: PAGE_LENGTH };
        const environment = { ...environmentOf(order), DAYWALK_TIER_URL: root };
        const command = ['tier', '--older-than', '1d'];
        return mustBeWell(
          await runDaywalk(command, environment, bench.signal).finally(() =>
            rm(root, { recursive: true, force: true }),
          ),
        ).peakRss;
      }),
    );
  return peaks;
}
