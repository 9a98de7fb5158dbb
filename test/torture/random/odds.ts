/** What came of the random servers: a line for each, a table by class, and the page in docs. */
import type { TrialDatabase } from '../trial.ts';
import type { JudgedDay, Verdict } from './judge.ts';
import { CLASSES, CONSISTENT, type Nature, natureOf } from './nature.ts';
import type { Trial } from './trial.ts';

/** A server in a line: what of its nature is out of the ordinary. */
export function tellNature(nature: Nature): string {
  const { seed: _, class: kind, totalLimit, totalSeconds, lacking, behindShare, ...rest } = nature;
  const told = {
    ...rest,
    ...(/capped|bound/.test(nature.total) ? { totalLimit } : {}),
    ...(nature.total === 'cached' ? { totalSeconds } : {}),
    ...(nature.replica === null ? {} : { lacking }),
    ...(nature.behind === null ? {} : { behindShare }),
  };
  const words = Object.entries(told).flatMap(([name, value]) =>
    value === null || value === false || value === 0
      ? []
      : [value === true ? name : `${name}=${JSON.stringify(value).replaceAll('"', '')}`],
  );
  return `${kind}: ${words.join(' ')}`;
}

/** Prints what is wrong with a server; nothing where nothing is. */
export function printTrial(trial: Trial): void {
  const bad = trial.days.filter(({ verdict }) => verdict === 'false' || verdict === 'failed');
  if (bad.length === 0 && trial.lost.length === 0) return;
  const lines = bad.map(
    ({ day, verdict, records, detail }) => `  ${day} ${verdict} (${records}): ${detail}`,
  );
  const lost = trial.lost.length === 0 ? [] : [`  not kept: ${trial.lost.slice(0, 5).join(', ')}`];
  const stops = [...new Set(trial.stops.filter((stop) => stop !== ''))].map(
    (stop) => `  stopped: ${stop}`,
  );
  console.log(
    [
      `seed ${trial.seed} (${trial.requests} requests, ${trial.kills} kills, ${trial.ms} ms) ${tellNature(trial.nature)}`,
      ...lines,
      ...lost,
      ...stops,
    ].join('\n'),
  );
}

/** What must not be, in texts: a false day of a consistent server, and what was not kept by any. */
export function wrongs(trials: readonly Trial[]): string[] {
  return trials.flatMap((trial) => [
    ...trial.lost.slice(0, 1).map((lost) => `seed ${trial.seed}: not kept: ${lost}`),
    ...(CONSISTENT.has(trial.class) ? trial.days : [])
      .filter(({ verdict }) => verdict === 'false')
      .map(
        ({ day, detail }) =>
          `seed ${trial.seed} (${trial.class}): ${day} is complete, and ${detail}`,
      ),
  ]);
}

/** The table by class. */
export function tableOf(trials: readonly Trial[]): string {
  const rows = CLASSES.map((name) => {
    const mine = trials.filter((trial) => trial.class === name);
    const days = mine.flatMap((trial) => trial.days);
    const provable = days.filter(({ verdict }) => verdict !== 'unprovable');
    const count = (verdict: Verdict) => days.filter((day) => day.verdict === verdict).length;
    const share = (some: number, all: number) =>
      all === 0 ? '' : `${((100 * some) / all).toFixed(1)} %`;
    const sum = (of: (trial: Trial) => number) => mine.reduce((all, trial) => all + of(trial), 0);
    const complete = days.length - count('failed') - count('unprovable');
    const cells = [
      name,
      mine.length,
      days.length,
      count('exact'),
      count('false'),
      share(count('false'), complete),
      count('unseen'),
      days.filter((day: JudgedDay) => day.healed).length,
      count('failed'),
      share(count('failed'), provable.length),
      count('unprovable'),
      mine.filter((trial) => trial.lost.length > 0).length,
      sum(({ kills }) => kills),
      (
        sum(({ requests }) => requests) /
        Math.max(
          1,
          sum(({ least }) => least),
        )
      ).toFixed(1),
    ];
    return mine.length === 0 ? [] : [`| ${cells.join(' | ')} |`];
  });
  return [
    '| class | servers | days | exact | false | of complete | unseen | healed | failed | of provable | not provable | not kept | kills | requests by the least |',
    '|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|',
    ...rows.flat(),
  ].join('\n');
}

/** The page. */
export function pageOf(trials: readonly Trial[], seed: number, seconds: number): string {
  const listed = trials
    .flatMap((trial) =>
      trial.days
        .filter(({ verdict }) => verdict === 'false')
        .map(({ day, detail }) => ({ trial, day, detail })),
    )
    .sort((one, other) => one.trial.seed - other.trial.seed)
    .map(({ trial, day, detail }) => `- ${trial.class}, seed ${trial.seed}, ${day}: ${detail}`);
  return [
    '# Random servers',
    '',
    `Written by \`npm run torture -- --random ${trials.length} --seed ${seed}\` (${seconds} s); not by hand. Every server is drawn from its`,
    'seed: envelope, totals, limits, order, edges, changes, faults, and what its class is named for. Three days are',
    'exported, and looked at again an hour, two hours and one, two and three days later; some workers are killed on the',
    'way, and some connections cut. A judge that knows the server compares day by day:',
    '',
    '- **exact**: complete, and `daywalk.events` shows what the server holds, and what it has shown before;',
    '- **false**: complete, and not so;',
    '- **unseen**: complete; what differs is an edit that no look could see, or as many deletions as insertions between',
    '  two looks;',
    '- **healed**: complete and wrong after an earlier pass, right at the end;',
    '- **failed**: not complete, though it could have been (each with its reason); **not provable**: a single second',
    '  holds more than the server ever lists, say;',
    '- **not kept**: servers of which a record was shown once and later not. There must be none.',
    '',
    tableOf(trials),
    '',
    `One server is tried again by \`npm run torture -- --random 1 --seed S --trace\`. Days that are complete and wrong:`,
    '',
    ...(listed.length === 0 ? ['- none'] : listed),
    '',
  ].join('\n');
}

/** The requests of a server, what became of each window, and what was learned. */
export async function traceOf(trial: Trial, database: TrialDatabase): Promise<string> {
  const windows = await database.query<{ told: string }>(
    `select concat_ws(' ', w.window_id, w.kind, w.from_time, '-', w.to_time, w.level_from, w.level_to, w.state, 'looks', w.looks,
                      'of ' || w.split_from, 'split by ' || w.split_by || ': ' || w.split_reason, w.proof ->> 'kind',
                      w.proof ->> 'records', w.proof ->> 'why', '- ' || w.last_error) as told
       from daywalk.windows w order by from_time, window_id`,
  );
  const walks = await database.query<{ told: string }>(
    `select concat_ws(' ', 'walk', walk_id, 'of', window_id, role, from_time, '-', to_time, level_from, level_to, outcome, records,
                      'of', first_total, 'shown', shown, 'ignores ' || nullif(ignored::text, '{}'), '- ' || reason) as told
       from daywalk.walks order by walk_id`,
  );
  const learned = await database.query<{ told: string }>(
    `select concat_ws(' ', 'learned', fact, value, 'as', evidence) as told from daywalk.learned order by learned_at`,
  );
  return [
    tellNature(natureOf(trial.seed)),
    ...trial.exchanges.map(
      (one) =>
        `${one.number} +${one.seconds}s ${one.from} - ${one.to} start ${one.start} length ${one.length} ${one.levels} -> ` +
        `${one.status} ${one.records} ${one.answer.slice(0, 90)}`,
    ),
    ...[...windows, ...walks, ...learned].map(({ told }) => told),
    ...trial.days.map((day) => JSON.stringify(day)),
    ...trial.stops.map((stop, pass) => `pass ${pass}: ${stop || 'ended'}`),
  ].join('\n');
}
