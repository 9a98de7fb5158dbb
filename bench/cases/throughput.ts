/** Case `throughput`: the whole export against fetching the same pages, plus inserting the same pages. */
import type { Bench, Case, Row } from '../case.ts';
import type { Compression } from '../databases.ts';
import type { Exported } from '../exporter.ts';
import type { Postgres } from '../postgres.ts';
import { againstFloor, againstLimit, milliseconds, seconds } from '../rows.ts';
import { withSource } from '../source.ts';
import { inTurn, median } from '../statistics.ts';
import {
  exportWorkload,
  fetchFloor,
  insertFloor,
  NOT_NEW,
  pagesOf,
  served,
  type Workload,
} from '../workload.ts';
import { limitHere, type Yardstick } from '../yardstick.ts';

const ROUNDS = 3;
/** One connection leaves a processor free for the rest; with more the floor keeps both busy. */
const MOST_OF_FLOOR = { ratio: 1.15, text: '≤ 1.15 × floor' };
const MOST_OF_BUSY = { ratio: 1.25, text: '≤ 1.25 × floor' };
const CPU_MS_PER_MB = 5;
/** Where the time until complete and until sealed is told by itself. */
const SEALED_AT = 4;

type Took = Pick<Exported, 'ms' | 'completeMs' | 'cpuMs' | 'postgresMs'>;

export const throughput: Case = {
  name: 'throughput',
  title: 'Throughput',
  about:
    'The whole export (plan, walk, prove, publish, seal) of some 190,000 events in pages of 1,000 records, from a source that costs next to nothing. Floor: the same pages fetched and thrown away, plus the same pages inserted from memory into a table made as `daywalk.pages` is, with as many connections, in the same round. CPU is user and system time of the worker.',
  limitMs: 360_000,
  async run(bench) {
    const workload: Workload = {
      days: bench.quick ? 2 : 8,
      pagesPerDay: bench.quick ? 4 : 25,
      pageLength: 1_000,
    };
    const source = served(bench, workload);
    const pages = pagesOf(source, workload);
    const mb = pages.flat().reduce((sum, page) => sum + page.length, 0) / 1e6;
    const rounds = bench.quick ? 1 : ROUNDS;
    const servers = await serversFor(bench);
    const rows = await withSource(source, bench.signal, async ({ url }) => {
      const found: Row[] = [];
      for (const [compression, server] of servers)
        for (const width of bench.quick ? [4] : [1, 2, 4, 8]) {
          bench.say(`${compression}, concurrency ${width}`);
          const target = { postgresUrl: server.url, compression };
          const results = await inTurn<'floor' | 'whole', Took>(rounds, {
            floor: async () => {
              const fetched = await fetchFloor(url, source, workload, width, bench.signal);
              const ms = fetched + (await insertFloor(target, pages, width));
              return { ms, completeMs: ms, cpuMs: 0, postgresMs: null };
            },
            whole: () => exportWorkload(bench, url, workload, width, target),
          });
          found.push(...rowsOf(bench, `${compression}, concurrency ${width}`, results, mb, width));
        }
      return found;
    });
    return { rows, notes: notesOf(servers, mb, rounds) };
  },
  words: {
    reached: 'Postgres is the limit: it parses every page once, and nothing else does.',
    missed:
      'Above the floor lie the hash of every record (which proves that no record stands on two pages), the cuts and what a day larger than all before it is asked for, publishing, and the seal of every page, a SHA-256 over its text for the ledger. The floor does none of it. With one connection they run beside it; with more, two processors are busy with the floor alone, and the sum decides. A day is sealed when it is complete; what the seals take is in docs/decisions/0021. The time of the worker has a part for each page and a part for each MB; the target is reached with larger pages (Profile, below).',
  },
};

/** Both compressions, each with a server that has it. */
async function serversFor(bench: Bench): Promise<Map<Compression, Postgres>> {
  const servers = new Map<Compression, Postgres>([['pglz', bench.postgres]]);
  const lz4 = await bench.servers.withLz4();
  if (lz4 !== null) servers.set('lz4', lz4);
  return servers;
}

function rowsOf(
  { yardstick }: Bench,
  what: string,
  { floor, whole }: Record<'floor' | 'whole', readonly Took[]>,
  mb: number,
  width: number,
): Row[] {
  const ms = whole.map((one) => one.ms);
  return [
    againstFloor(
      { what, format: seconds, also: `${Math.round((mb * 1000) / median(ms))} MB/s` },
      ms,
      floor.map((one) => one.ms),
      width > 1 ? MOST_OF_BUSY : MOST_OF_FLOOR,
    ),
    againstLimit(
      { what: `${what}: worker CPU per MB`, format: milliseconds, unit: yardstick.parse },
      whole.map((one) => one.cpuMs / mb),
      limitHere(yardstick, 'parse', CPU_MS_PER_MB),
    ),
    ...(width === SEALED_AT ? sealedRows(yardstick, what, whole, mb) : []),
  ];
}

/** Sealing at the end moves work, so it is told when days are complete, when they are sealed, and what both processes took. */
function sealedRows(
  { insert }: Yardstick,
  what: string,
  whole: readonly Took[],
  mb: number,
): Row[] {
  const complete = whole.map(({ completeMs }) => completeMs);
  const sealed = whole.map(({ ms }) => ms);
  const both = whole.flatMap(({ cpuMs, postgresMs }) =>
    postgresMs === null ? [] : [(cpuMs + postgresMs) / mb],
  );
  const told = { format: seconds, unit: insert };
  return [
    againstLimit({ ...told, what: `${what}: until all days are complete` }, complete, null),
    againstLimit({ ...told, what: `${what}: until all days are sealed` }, sealed, null),
    ...(both.length === 0
      ? []
      : [
          againstLimit(
            {
              what: `${what}: CPU of worker and Postgres per MB`,
              format: milliseconds,
              unit: insert,
            },
            both,
            null,
          ),
        ]),
  ];
}

function notesOf(servers: Map<Compression, Postgres>, mb: number, rounds: number): string[] {
  const [pglz, lz4] = [servers.get('pglz'), servers.get('lz4')];
  return [
    `${mb.toFixed(0)} MB of JSON; ${rounds} rounds. ${NOT_NEW}`,
    lz4 === undefined
      ? 'No server with lz4 was to be had: the embedded Postgres for Linux is built without it.'
      : lz4 === pglz
        ? 'Both compressions on the same server.'
        : `lz4 on ${lz4.what}, because the server of the other cases is built without it.`,
  ];
}
