/** Case `memory`: the most memory that the program holds, by page size and by volume. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Bench, Case, Row } from '../case.ts';
import { type Scratch, withDatabase } from '../databases.ts';
import { environmentOf } from '../exporter.ts';
import type { ServedSource } from '../page-server.ts';
import { mustBeWell, runDaywalk } from '../program.ts';
import { makeRecords } from '../records.ts';
import { againstFloor, againstLimit, megabytes } from '../rows.ts';
import { withSource } from '../source.ts';
import { dayAfter, FIRST_DAY } from '../workload.ts';

const CONCURRENCY = 4;
const MB = 1e6;
/** The default of `ahead_memory`. */
const AHEAD_MB = 32;
/** Pages that the program holds at a time: those in flight, and twice as many ahead as far as `ahead_memory` goes. */
const pagesHeld = (pageMb: number): number =>
  CONCURRENCY + Math.min(2 * CONCURRENCY, Math.floor(AHEAD_MB / pageMb));
/** Of records so small that pages do not count. */
const IDLE: Trial = { pageMb: 0.001, pagesPerDay: 10, days: 4 };
/** A volume a hundred times as large may leave this much more of the heap unused. */
const FLAT = { ratio: 1.15, text: 'flat: ≤ 1.15 × that at 100 MB' };

interface Trial {
  readonly pageMb: number;
  readonly pagesPerDay: number;
  readonly days: number;
}

export const memory: Case = {
  name: 'memory',
  title: 'Memory',
  about:
    'The peak resident set of `daywalk backfill` in a process of its own, as the operating system tells at its end, at concurrency 4. Target: the peak with pages of 1 kB, as good as idle, + 4 × page size × pages held, which are 4 in flight and up to 8 ahead as far as `ahead_memory` (32 MB) goes; and the same peak at 10 GB as at 100 MB.',
  limitMs: 420_000,
  async run(bench) {
    const rows: Row[] = [];
    const trials: Trial[] = bench.quick
      ? [{ pageMb: 1, pagesPerDay: 2, days: 4 }]
      : [
          { pageMb: 1, pagesPerDay: 10, days: 10 },
          { pageMb: 10, pagesPerDay: 5, days: 8 },
          { pageMb: 50, pagesPerDay: 2, days: 8 },
        ];
    const idle = await peakOf(bench, IDLE);
    rows.push(againstLimit({ what: '1-kB pages', format: megabytes }, [idle], null));
    const peaks: number[] = [];
    for (const trial of trials) {
      const peak = await peakOf(bench, trial);
      peaks.push(peak);
      const most = idle + 4 * trial.pageMb * MB * pagesHeld(trial.pageMb);
      const what = `${trial.pageMb}-MB pages, ${volume(trial)}`;
      rows.push(againstLimit({ what, format: megabytes }, [peak], { most }));
    }
    const small = peaks[0] as number;
    const large: Trial = { pageMb: 1, pagesPerDay: 100, days: bench.quick ? 1 : 100 };
    const peak = await peakOf(bench, large);
    const what = `1-MB pages, ${volume(large)}; floor: the peak at ${volume(trials[0] as Trial)}`;
    rows.push(againstFloor({ what, format: megabytes }, [peak], [small], FLAT));
    return {
      rows,
      notes: [
        'One run each. The large volume is the same 100 pages on 100 days; while it runs, the pages of a month are truncated as soon as all its days are in the ledger, so that the disk stays small. The worker sees nothing of that.',
      ],
    };
  },
  words: {
    reached:
      'A page is one buffer: it is received, hashed and sent as it is, and never becomes objects.',
    missed:
      'A page never becomes objects, and is there once: as it was received it is sent. Half as many windows again as `concurrency` have a page in their hands, and the pieces of answers live until V8 collects: the target counts neither. A smaller `concurrency` is what helps.',
  },
};

const volume = ({ pageMb, pagesPerDay, days }: Trial): string => {
  const mb = pageMb * pagesPerDay * days;
  return mb >= 10_000 ? `${mb / 1000} GB` : `${mb} MB`;
};

/** The peak resident set of one export, in bytes. */
async function peakOf(bench: Bench, trial: Trial): Promise<number> {
  bench.say(`${trial.pageMb}-MB pages, ${volume(trial)}`);
  const sample = makeRecords({ kind: 'events', count: 1_000 });
  const pageLength = Math.round((trial.pageMb * MB * sample.count) / sample.bytes.length);
  const perDay = trial.pagesPerDay * (pageLength - 1);
  const source: ServedSource = {
    records: { kind: 'events', count: perDay },
    recordsPerDay: perDay,
    firstDay: FIRST_DAY,
  };
  return withSource(source, bench.signal, ({ url: apiUrl }) =>
    withDatabase(bench.postgres.url, { schema: true }, async (scratch) => {
      const stop = new AbortController();
      const emptied = emptyAsItGoes(scratch, stop.signal);
      try {
        const order = { databaseUrl: scratch.url, apiUrl, concurrency: CONCURRENCY, pageLength };
        const range = ['--from', FIRST_DAY, '--to', dayAfter(trial.days - 1)];
        const environment = environmentOf(order);
        return mustBeWell(await runDaywalk(['backfill', ...range], environment, bench.signal))
          .peakRss;
      } finally {
        stop.abort();
        await emptied;
      }
    }),
  );
}

const LOOK_EVERY_MS = 2_000;

/** Truncates the pages of every month whose days, and the day after, are in the ledger. */
async function emptyAsItGoes(scratch: Scratch, stop: AbortSignal): Promise<void> {
  const emptied = new Set<string>();
  while (!stop.aborted) {
    const months = await scratch.query<{ partition: string }>(
      `select 'pages_' || to_char(m.month, 'YYYY_MM') as partition
         from (select date_trunc('month', day) as month, max(day) as last, count(distinct day) as days
                 from daywalk.windows group by 1) as m
        where m.days = (select count(distinct l.day) from daywalk.ledger l where date_trunc('month', l.day) = m.month)
          and exists (select from daywalk.ledger l where l.day > m.last)`,
    );
    for (const { partition } of months.filter((month) => !emptied.has(month.partition))) {
      await scratch.query(`truncate daywalk.${partition}`);
      emptied.add(partition);
    }
    await pause(LOOK_EVERY_MS, undefined, { signal: stop }).catch(() => {});
  }
}
