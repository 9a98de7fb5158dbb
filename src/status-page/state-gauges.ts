/** Gauges of where the export stands: read from the database when somebody asks, the same in every worker. */
import { Gauge, type Registry } from 'prom-client';
import { type StreamDays, sumOf } from '../days/covered-days.ts';
import type { StreamHealth } from '../days/health.ts';
import type { TableState } from '../days/record-table-rows.ts';
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

/** The gauges of one registry. */
export class StateGauges {
  readonly #all: Gauge[] = [];
  readonly #byStream: Gauge<'stream'>[] = [];
  readonly #byTable: Gauge<'table'>[] = [];

  readonly #build = new Gauge({
    name: 'daywalk_build_info',
    help: 'Always 1; the labels tell what runs.',
    labelNames: ['version', 'node'],
    registers: [],
  });
  readonly #up = this.#plain('database_up', 'Whether the database answers.');
  readonly #lastDay = this.#ofStream(
    'last_complete_day_timestamp_seconds',
    'When the newest complete day of the stream ended.',
  );
  readonly #lag = this.#ofStream(
    'lag_seconds',
    'Time since the newest complete day of the stream ended.',
  );
  readonly #fresh = this.#ofStream(
    'fresh',
    'Whether the newest day that should be complete by now is.',
  );
  readonly #closed = this.#ofStream(
    'closed_days',
    'Days of the stream that are closed and wanted.',
  );
  readonly #complete = this.#ofStream('complete_days', 'Days of the stream that are complete.');
  readonly #missing = this.#ofStream(
    'missing_days',
    'Closed days of the stream that are neither complete nor failed.',
  );
  readonly #overdue = this.#ofStream(
    'overdue_days',
    'Days of the stream that should be complete by now, are not, and have not failed.',
  );
  readonly #failed = this.#ofStream('failed_days', 'Days of the stream that failed.');
  readonly #gone = this.#ofStream(
    'gone_records',
    'Records of the stream that are kept and that the source does not show any more.',
  );
  readonly #lost = this.#ofStream(
    'lost_records',
    'Those that days of the stream lost in numbers, until that is accepted.',
  );
  readonly #records = this.#ofStream(
    'stored_records',
    'Records of the stream that the views show.',
  );
  readonly #pages = this.#ofStream('stored_pages', 'Pages of the stream that the views show.');
  readonly #bytes = this.#ofStream('stored_bytes', 'Bytes received for those pages.');
  readonly #behind = this.#ofTable(
    'table_behind_days',
    'Days in which the record table is not in step with what is shown.',
  );
  readonly #rows = this.#ofTable('table_rows', 'Rows of the record table.');
  readonly #misfits = this.#ofTable(
    'table_faults',
    'Values that do not fit the type of their column, and are null.',
  );
  readonly #leases = this.#plain('leases', 'Windows that workers hold now, on all machines.');
  readonly #lastRun = this.#plain(
    'last_run_timestamp_seconds',
    'When the newest run ended, on any machine.',
  );
  readonly #pass = this.#plain('pass_running', 'Whether this worker runs a pass now.');
  readonly #nextTick = this.#plain(
    'next_tick_timestamp_seconds',
    'When this worker begins its next pass.',
  );
  readonly #refused = this.#plain(
    'key_refused_timestamp_seconds',
    'Since when the API refuses the key of this worker; 0: it does not.',
  );
  readonly #limit = this.#plain('requests_limit', 'Requests that this process may have under way.');
  readonly #underWay = this.#plain('requests_under_way', 'Requests that it has under way.');
  readonly #waiting = this.#plain('requests_waiting', 'Requests that wait for their turn.');

  constructor(registry: Registry) {
    for (const gauge of [this.#build, ...this.#all, ...this.#byStream, ...this.#byTable])
      registry.registerMetric(gauge);
  }

  /** Sets all of them; those that need the database are absent while it is away. */
  set({ version, timeZone, standing, doing, limits }: StateNow): void {
    for (const gauge of this.#all) gauge.remove();
    for (const gauge of [...this.#byStream, ...this.#byTable]) gauge.reset();
    this.#build.set({ version, node: process.version }, 1);
    this.#up.set(standing === null ? 0 : 1);
    this.#pass.set(doing.pass === null ? 0 : 1);
    this.#refused.set((doing.refused?.since.getTime() ?? 0) / 1000);
    if (doing.nextTick !== null) this.#nextTick.set(doing.nextTick / 1000);
    if (limits !== null) {
      this.#limit.set(limits.limit);
      this.#underWay.set(limits.underWay);
      this.#waiting.set(limits.waiting);
    }
    if (standing === null) return;
    this.#leases.set(standing.running.length);
    const ended = standing.runs.find(({ finishedAt }) => finishedAt !== null)?.finishedAt;
    if (ended) this.#lastRun.set(ended.getTime() / 1000);
    for (const health of standing.health.streams) this.#setHealth(health, timeZone);
    for (const days of standing.streams) this.#setStored(days);
    // Below are only streams that the database knows.
    for (const { stream } of standing.streams) {
      this.#gone.set({ stream }, 0);
      this.#lost.set({ stream }, 0);
    }
    for (const table of standing.tables) this.#setTable(table);
    for (const { stream, gone, failures } of standing.gone) {
      this.#gone.set({ stream }, gone);
      this.#lost.set(
        { stream },
        failures.reduce((sum, { lost }) => sum + lost, 0),
      );
    }
  }

  #setHealth(health: StreamHealth, timeZone: string): void {
    const { stream, fresh, lastComplete, lagMs, closed, complete, failed, overdue } = health;
    if (lastComplete !== null)
      this.#lastDay.set({ stream }, closesAt(lastComplete, timeZone, 0) / 1000);
    if (lagMs !== null) this.#lag.set({ stream }, lagMs / 1000);
    this.#fresh.set({ stream }, fresh ? 1 : 0);
    this.#closed.set({ stream }, closed);
    this.#complete.set({ stream }, complete);
    this.#missing.set({ stream }, closed - complete - failed);
    this.#overdue.set({ stream }, overdue);
    this.#failed.set({ stream }, failed);
  }

  #setStored({ stream, days }: StreamDays): void {
    this.#records.set({ stream }, sumOf(days, 'records'));
    this.#pages.set({ stream }, sumOf(days, 'pages'));
    this.#bytes.set({ stream }, sumOf(days, 'bytes'));
  }

  #setTable({ table, state, behind, records, faults }: TableState): void {
    // One that is being built is no table that anybody asks.
    if (state !== 'live') return;
    this.#behind.set({ table }, behind);
    this.#rows.set({ table }, records);
    this.#misfits.set({ table }, faults);
  }

  #plain(name: string, help: string): Gauge {
    const gauge = new Gauge({ name: `daywalk_${name}`, help, registers: [] });
    this.#all.push(gauge);
    return gauge;
  }

  #ofStream(name: string, help: string): Gauge<'stream'> {
    const gauge = new Gauge({
      name: `daywalk_${name}`,
      help,
      labelNames: ['stream'] as const,
      registers: [],
    });
    this.#byStream.push(gauge);
    return gauge;
  }

  #ofTable(name: string, help: string): Gauge<'table'> {
    const labelNames = ['table'] as const;
    const gauge = new Gauge({ name: `daywalk_${name}`, help, labelNames, registers: [] });
    this.#byTable.push(gauge);
    return gauge;
  }
}
