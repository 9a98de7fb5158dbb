/** Gauges of where the export stands: read from the database when somebody asks, the same in every worker. */
import { Gauge, Registry } from 'prom-client';
import { sumOf } from '../days/covered-days.ts';
import { closesAt } from '../plan/days.ts';
import type { Activity } from './activity.ts';
import type { Overview } from './facts.ts';

/** All that the gauges show. */
export interface StateNow {
  readonly version: string;
  /** IANA name of the source's zone. */
  readonly timeZone: string;
  /** Null: the database is away. */
  readonly standing: Overview | null;
  readonly doing: Readonly<Activity>;
}

/** All gauges, and what they tell of. */
const HELP = {
  build_info: 'Always 1; the labels tell what runs.',
  database_up: 'Whether the database answers.',
  pass_running: 'Whether this worker runs a pass now.',
  next_tick_timestamp_seconds: 'When this worker begins its next pass.',
  key_refused_timestamp_seconds:
    'Since when the API refuses the key of this worker; 0: it does not.',
  requests_limit: 'Requests that this process may have under way.',
  requests_under_way: 'Requests that it has under way.',
  requests_waiting: 'Requests that wait for their turn.',
  leases: 'Windows that workers hold now, on all machines.',
  last_run_timestamp_seconds: 'When the newest run ended, on any machine.',
  table_behind_days: 'Days in which the record table is not in step with what is shown.',
  table_rows: 'Rows of the record table.',
  table_faults: 'Values that do not fit the type of their column, and are null.',
  last_complete_day_timestamp_seconds: 'When the newest complete day of the stream ended.',
  lag_seconds: 'Time since the newest complete day of the stream ended.',
  fresh: 'Whether the newest day that should be complete by now is.',
  closed_days: 'Days of the stream that are closed and wanted.',
  complete_days: 'Days of the stream that are complete.',
  missing_days: 'Closed days of the stream that are neither complete nor failed.',
  overdue_days: 'Days of the stream that should be complete by now, are not, and have not failed.',
  failed_days: 'Days of the stream that failed.',
  gone_records: 'Records of the stream that are kept and that the source does not show any more.',
  gone_on_balance_records: 'Those of them for which no other records came in the same walks.',
  lost_records: 'Those that days of the stream lost in numbers, until that is accepted.',
  stored_records: 'Records of the stream that the views show, or that moved to the tier.',
  stored_pages: 'Pages of the stream that the views show.',
  stored_bytes: 'Bytes received for those pages.',
};
type Name = keyof typeof HELP;

/** The gauges as things stand, made anew each time; those that need the database have no value while it is away. */
export function stateGauges({ version, timeZone, standing, doing }: StateNow): Registry {
  const registry = new Registry();
  const build = { version, node: process.version };
  gaugeIn(registry, 'build_info', Object.keys(build)).set(build, 1);
  const limits = doing.limits?.();
  const ended = standing?.runs.find(({ finishedAt }) => finishedAt !== null)?.finishedAt;
  setEach(registry, [], [{}], {
    database_up: () => Number(standing !== null),
    pass_running: () => Number(doing.pass !== null),
    next_tick_timestamp_seconds: () => secondsOf(doing.nextTick),
    key_refused_timestamp_seconds: () => secondsOf(doing.refused?.since.getTime() ?? 0),
    requests_limit: () => limits?.limit,
    requests_under_way: () => limits?.underWay,
    requests_waiting: () => limits?.waiting,
    leases: () => standing?.running.length,
    last_run_timestamp_seconds: () => secondsOf(ended?.getTime() ?? null),
  });
  // One that is being built is no table that anybody asks.
  const tables = standing?.tables.filter(({ state }) => state === 'live') ?? [];
  setEach(registry, ['table'], tables, {
    table_behind_days: ({ behind }) => behind,
    table_rows: ({ records }) => records,
    table_faults: ({ faults }) => faults,
  });
  setEach(registry, ['stream'], standing?.health.streams ?? [], {
    last_complete_day_timestamp_seconds: ({ lastComplete }) =>
      secondsOf(lastComplete === null ? null : closesAt(lastComplete, timeZone, 0)),
    lag_seconds: ({ lagMs }) => secondsOf(lagMs),
    fresh: ({ fresh }) => Number(fresh),
    closed_days: ({ closed }) => closed,
    complete_days: ({ complete }) => complete,
    missing_days: ({ closed, complete, failed }) => closed - complete - failed,
    overdue_days: ({ overdue }) => overdue,
    failed_days: ({ failed }) => failed,
  });
  const goneOf = (name: string) => standing?.gone.find(({ stream }) => stream === name);
  const lostOf = (name: string) =>
    goneOf(name)?.failures.reduce((sum, { lost }) => sum + lost, 0) ?? 0;
  setEach(registry, ['stream'], standing?.streams ?? [], {
    gone_records: ({ stream }) => goneOf(stream)?.gone ?? 0,
    gone_on_balance_records: ({ stream }) => goneOf(stream)?.lost ?? 0,
    lost_records: ({ stream }) => lostOf(stream),
    stored_records: ({ days }) => sumOf(days, 'records'),
    stored_pages: ({ days }) => sumOf(days, 'pages'),
    stored_bytes: ({ days }) => sumOf(days, 'bytes'),
  });
  return registry;
}

const secondsOf = (ms: number | null): number | undefined => (ms === null ? undefined : ms / 1000);

const gaugeIn = (registry: Registry, name: Name, labelNames: string[]) =>
  new Gauge({ name: `daywalk_${name}`, help: HELP[name], labelNames, registers: [registry] });

/** Gauges with a value for each of these streams or tables, or one of no label; undefined: nobody knows it. */
function setEach<Label extends string, Of extends Readonly<Record<Label, string>>>(
  registry: Registry,
  labels: Label[],
  all: readonly Of[],
  values: { readonly [N in Name]?: (one: Of) => number | undefined },
): void {
  for (const [name, valueIn] of Object.entries(values)) {
    const gauge = gaugeIn(registry, name as Name, labels);
    for (const one of all) {
      const own = Object.fromEntries(labels.map((label) => [label, one[label]]));
      const value = valueIn(one);
      if (value === undefined) gauge.remove(own);
      else gauge.set(own, value);
    }
  }
}
