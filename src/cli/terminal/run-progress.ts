/** Progress of a run: what its events add up to at one moment, with the present rate and a guess of what is left. */
import type { Pass } from '../../status-page/activity.ts';
import type { WindowName } from '../../walk/events.ts';
import type { RunEvent } from '../../walk/run.ts';

/** A window that is walked now. */
export interface RunningNow extends WindowName {
  /** Records that came in this run; a list that is walked again counts again. */
  readonly records: number;
  /** What the source says that there are; null: it does not say. */
  readonly total: number | null;
  readonly elapsedMs: number;
}

/** What is known of a run at one moment, in whole numbers: a fraction of a millisecond is noise. */
export interface ProgressState extends Pass {
  readonly running: readonly RunningNow[];
  readonly bytes: number;
  /** Over the last half minute. */
  readonly recordsPerSecond: number;
}

/** The rate is that of so long. */
const RATE_MS = 30_000;

/** Adds up the events of one run; times are milliseconds of a monotonic clock. */
export class RunProgress {
  readonly #began: number;
  readonly #running = new Map<
    number,
    { window: WindowName; since: number; records: number; total: number | null }
  >();
  /** When pages came, and with how many records; old ones are forgotten when the rate is asked for. */
  #pages: { readonly at: number; readonly records: number }[] = [];
  readonly #sum = { windows: 0, done: 0, failed: 0, records: 0, bytes: 0 };

  constructor(now: number) {
    this.#began = now;
  }

  /** Takes in one event. */
  add(event: RunEvent, now: number): void {
    const sum = this.#sum;
    if (event.kind === 'planned') sum.windows = event.windows;
    if (!('window' in event)) return;
    const { kind, window } = event;
    if (kind === 'claimed')
      this.#running.set(window.windowId, { window, since: now, records: 0, total: null });
    else if (kind === 'page') this.#page(event, now);
    else this.#running.delete(window.windowId);
    if ((kind === 'complete' || kind === 'unchanged') && window.kind !== 'cut') sum.done += 1;
    if (kind === 'failed') sum.failed += 1;
    if (kind === 'split') {
      sum.windows += event.parts;
      sum.done += 1;
    }
  }

  /** What is known now. */
  state(now: number): ProgressState {
    const elapsedMs = now - this.#began;
    const { windows, done, failed } = this.#sum;
    const running = [...this.#running.values()].map(({ window, since, ...known }) => {
      return { ...window, ...known, elapsedMs: Math.round(now - since) };
    });
    const walked = running.filter(({ kind }) => kind !== 'cut');
    return {
      ...this.#sum,
      windows: Math.max(windows, done + failed + walked.length),
      running,
      elapsedMs: Math.round(elapsedMs),
      recordsPerSecond: this.#rate(now, elapsedMs),
      leftMs: this.#left(elapsedMs),
    };
  }

  #page(event: Extract<RunEvent, { kind: 'page' }>, now: number): void {
    this.#pages.push({ at: now, records: event.records });
    this.#sum.records += event.records;
    this.#sum.bytes += event.bytes;
    const running = this.#running.get(event.window.windowId);
    if (running === undefined) return;
    running.records += event.records;
    running.total = event.total ?? running.total;
  }

  #rate(now: number, elapsedMs: number): number {
    this.#pages = this.#pages.filter(({ at }) => at > now - RATE_MS);
    const records = this.#pages.reduce((sum, page) => sum + page.records, 0);
    const ms = Math.min(elapsedMs, RATE_MS);
    return ms > 0 ? Math.round((records / ms) * 1000) : 0;
  }

  /** Running windows count as far as their totals tell. */
  #left(elapsedMs: number): number | null {
    const { windows, done, failed } = this.#sum;
    let over = done + failed;
    for (const { records, total } of this.#running.values())
      if (total !== null && total > 0) over += Math.min(1, records / total);
    const left = Math.max(windows, done + failed) - over;
    return over > 0 && left > 0 ? Math.round((elapsedMs / over) * left) : null;
  }
}
