/** Metrics for Prometheus: what this process did, counted, and where the export stands, read when asked for. */
import { Counter, collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import { RUN_OUTCOMES, type RunOutcome } from '../errors.ts';
import type { SourceWatch } from '../source/source.ts';
import type { RunEvent } from '../walk/run.ts';
import { type StateNow, stateGauges } from './state-gauges.ts';

/** Statuses that mean something to daywalk or are frequent; another one has its series from its first answer on. */
const CODES = '200 204 400 401 403 404 408 413 429 500 502 503 504 none'.split(' ');
const WINDOW_OUTCOMES = ['complete', 'unchanged', 'split', 'failed'] as const;

/** What is counted, and by what. */
const COUNTERS = {
  pages: ['Pages stored by this process.', 'stream'],
  records: ['Records on the pages stored by this process.', 'stream'],
  received_bytes: ['Bytes of the pages stored by this process.', 'stream'],
  windows: [
    'Windows that this process has walked or looked at, by how they ended.',
    'stream',
    'outcome',
  ],
  runs: ['Runs of this process, by how they ended.', 'outcome'],
  requests: [
    'Requests to the API, by the status of the answer; none: there was no answer.',
    'code',
  ],
  retries: ['Requests to the API that repeat one that failed.'],
  retry_wait_seconds: ['Time that pages waited before they were asked for again.'],
  rate_limit_waits: ['Answers that asked everybody to wait (429, 503).'],
  rate_limit_wait_seconds: ['Time that such answers asked for.'],
} as const;

/** All metrics of a process. No label is a day: a series for each would never end. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #count = countersIn(this.#registry);
  readonly #duration = new Histogram({
    name: 'daywalk_request_duration_seconds',
    help: 'How long requests to the API took, from the request to the last byte.',
    buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
    registers: [this.#registry],
  });

  constructor() {
    collectDefaultMetrics({ register: this.#registry });
    // `increase` sees no event with which a series begins, so none may begin with one.
    for (const code of CODES) this.#count.requests.inc({ code }, 0);
    for (const outcome of RUN_OUTCOMES) this.#count.runs.inc({ outcome }, 0);
  }

  /** Begins the series of these streams, for the same reason. */
  begin(streams: readonly string[]): void {
    for (const stream of streams) {
      for (const counter of [this.#count.pages, this.#count.records, this.#count.received_bytes])
        counter.inc({ stream }, 0);
      for (const outcome of WINDOW_OUTCOMES) this.#count.windows.inc({ stream, outcome }, 0);
    }
  }

  /** Counts an event of a run. */
  readonly onEvent = (event: RunEvent): void => {
    if (!('window' in event)) return;
    const { stream } = event.window;
    const outcome = WINDOW_OUTCOMES.find((known) => known === event.kind);
    if (outcome !== undefined) this.#count.windows.inc({ stream, outcome });
    if (event.kind !== 'page') return;
    this.#count.pages.inc({ stream });
    this.#count.records.inc({ stream }, event.records);
    this.#count.received_bytes.inc({ stream }, event.bytes);
  };

  /** Counts a run. */
  onRunEnd(outcome: RunOutcome): void {
    this.#count.runs.inc({ outcome });
  }

  /** Counts requests. */
  readonly watch: SourceWatch = {
    answered: (status, durationMs) => {
      this.#count.requests.inc({ code: String(status) });
      this.#duration.observe(durationMs / 1000);
    },
    retried: (waitMs) => {
      this.#count.retries.inc();
      this.#count.retry_wait_seconds.inc(waitMs / 1000);
    },
    refused: (ms) => {
      this.#count.rate_limit_waits.inc();
      this.#count.rate_limit_wait_seconds.inc(ms / 1000);
    },
  };

  /** The metrics as text, with where things stand now, and their content type. */
  async read(state: StateNow): Promise<{ type: string; body: string }> {
    const standing = await stateGauges(state).metrics();
    const type = this.#registry.contentType;
    return { type, body: `${standing}\n${await this.#registry.metrics()}` };
  }
}

function countersIn(registry: Registry): Readonly<Record<keyof typeof COUNTERS, Counter>> {
  const counters = Object.entries(COUNTERS).map(([name, [help, ...labelNames]]) => {
    const registers = [registry];
    return [name, new Counter({ name: `daywalk_${name}_total`, help, labelNames, registers })];
  });
  return Object.fromEntries(counters);
}
