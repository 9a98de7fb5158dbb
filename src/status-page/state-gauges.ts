/** Gauges of where the export stands: read from the database when somebody asks, the same in every worker. */
import { Gauge, Registry } from 'prom-client';
import { sumOf } from '../days/covered-days.ts';
import { closesAt } from '../plan/days.ts';
import type { LimiterState } from '../source/limiter.ts';
import type { Doing } from './activity.ts';
import type { Standing } from './facts.ts';

/** All that the gauges show. */
export interface StateNow {
  readonly version: string;
  /** IANA name of the source's zone. */
  readonly timeZone: string;
  /** Null: the database is away. */
  readonly standing: Standing | null;
  readonly doing: Doing;
  /** Null: there is no source. */
  readonly limits: LimiterState | null;
}

/** The gauges as things stand, made anew each time; those that need the database have no value while it is away. */
export function stateGauges(state: StateNow): Registry {
  const registry = new Registry();
  setProcess(registry, state);
  setDatabase(registry, state.standing);
  setHealth(registry, state);
  setStored(registry, state.standing);
  return registry;
}

function setProcess(registry: Registry, { version, standing, doing, limits }: StateNow): void {
  const build = { version, node: process.version };
  new Gauge({
    name: 'daywalk_build_info',
    help: 'Always 1; the labels tell what runs.',
    labelNames: Object.keys(build),
    registers: [registry],
  }).set(build, 1);
  setPlain(registry, {
    database_up: ['Whether the database answers.', Number(standing !== null)],
    pass_running: ['Whether this worker runs a pass now.', Number(doing.pass !== null)],
    next_tick_timestamp_seconds: [
      'When this worker begins its next pass.',
      secondsOf(doing.nextTick),
    ],
    key_refused_timestamp_seconds: [
      'Since when the API refuses the key of this worker; 0: it does not.',
      (doing.refused?.since.getTime() ?? 0) / 1000,
    ],
    requests_limit: ['Requests that this process may have under way.', limits?.limit],
    requests_under_way: ['Requests that it has under way.', limits?.underWay],
    requests_waiting: ['Requests that wait for their turn.', limits?.waiting],
  });
}

function setDatabase(registry: Registry, standing: Standing | null): void {
  const ended = standing?.runs.find(({ finishedAt }) => finishedAt !== null)?.finishedAt;
  setPlain(registry, {
    leases: ['Windows that workers hold now, on all machines.', standing?.running.length],
    last_run_timestamp_seconds: [
      'When the newest run ended, on any machine.',
      secondsOf(ended?.getTime() ?? null),
    ],
  });
  // One that is being built is no table that anybody asks.
  const tables = standing?.tables.filter(({ state }) => state === 'live') ?? [];
  setEach(registry, 'table', tables, {
    table_behind_days: [
      'Days in which the record table is not in step with what is shown.',
      ({ behind }) => behind,
    ],
    table_rows: ['Rows of the record table.', ({ records }) => records],
    table_faults: [
      'Values that do not fit the type of their column, and are null.',
      ({ faults }) => faults,
    ],
  });
}

function setHealth(registry: Registry, { standing, timeZone }: StateNow): void {
  setEach(registry, 'stream', standing?.health.streams ?? [], {
    last_complete_day_timestamp_seconds: [
      'When the newest complete day of the stream ended.',
      ({ lastComplete }) =>
        secondsOf(lastComplete === null ? null : closesAt(lastComplete, timeZone, 0)),
    ],
    lag_seconds: [
      'Time since the newest complete day of the stream ended.',
      ({ lagMs }) => secondsOf(lagMs),
    ],
    fresh: [
      'Whether the newest day that should be complete by now is.',
      ({ fresh }) => Number(fresh),
    ],
    closed_days: ['Days of the stream that are closed and wanted.', ({ closed }) => closed],
    complete_days: ['Days of the stream that are complete.', ({ complete }) => complete],
    missing_days: [
      'Closed days of the stream that are neither complete nor failed.',
      ({ closed, complete, failed }) => closed - complete - failed,
    ],
    overdue_days: [
      'Days of the stream that should be complete by now, are not, and have not failed.',
      ({ overdue }) => overdue,
    ],
    failed_days: ['Days of the stream that failed.', ({ failed }) => failed],
  });
}

function setStored(registry: Registry, standing: Standing | null): void {
  const goneOf = (name: string) => standing?.gone.find(({ stream }) => stream === name);
  setEach(registry, 'stream', standing?.streams ?? [], {
    gone_records: [
      'Records of the stream that are kept and that the source does not show any more.',
      ({ stream }) => goneOf(stream)?.gone ?? 0,
    ],
    lost_records: [
      'Those that days of the stream lost in numbers, until that is accepted.',
      ({ stream }) => goneOf(stream)?.failures.reduce((sum, { lost }) => sum + lost, 0) ?? 0,
    ],
    stored_records: [
      'Records of the stream that the views show.',
      ({ days }) => sumOf(days, 'records'),
    ],
    stored_pages: ['Pages of the stream that the views show.', ({ days }) => sumOf(days, 'pages')],
    stored_bytes: ['Bytes received for those pages.', ({ days }) => sumOf(days, 'bytes')],
  });
}

const secondsOf = (ms: number | null): number | undefined => (ms === null ? undefined : ms / 1000);

/** Gauges of one value each, by their names, with help; undefined: nobody knows it. */
function setPlain(
  registry: Registry,
  gauges: Readonly<Record<string, [help: string, value: number | undefined]>>,
): void {
  for (const [name, [help, value]] of Object.entries(gauges)) {
    const gauge = new Gauge({ name: `daywalk_${name}`, help, registers: [registry] });
    if (value === undefined) gauge.remove();
    else gauge.set(value);
  }
}

/** Gauges with a value for each of these streams or tables; undefined: this one has none. */
function setEach<Label extends string, Of extends Readonly<Record<Label, string>>>(
  registry: Registry,
  label: Label,
  all: readonly Of[],
  gauges: Readonly<Record<string, [help: string, valueIn: (one: Of) => number | undefined]>>,
): void {
  for (const [name, [help, valueIn]] of Object.entries(gauges)) {
    const labelNames: string[] = [label];
    const gauge = new Gauge({ name: `daywalk_${name}`, help, labelNames, registers: [registry] });
    for (const one of all) {
      const value = valueIn(one);
      if (value !== undefined) gauge.set({ [label]: one[label] }, value);
    }
  }
}
