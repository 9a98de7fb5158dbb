/** What happens while windows are run, for those who watch, and what it adds up to in a run. */
import type { LeasedWindow } from '../store/leases.ts';
import type { RunCounts } from '../store/runs.ts';
import type { CommittedPage, WindowEnd } from './questions/context.ts';

/** One event. */
export type WalkEvent =
  | { readonly kind: 'claimed'; readonly window: WindowName }
  | ({ readonly kind: 'page'; readonly window: WindowName } & CommittedPage)
  | (WindowEnd & { readonly window: WindowName })
  | { readonly kind: 'failed'; readonly window: WindowName; readonly reason: string }
  | { readonly kind: 'stream-stopped'; readonly stream: string; readonly reason: string }
  | { readonly kind: 'waiting'; readonly windows: number; readonly owner: string };

/** A window as people name it. */
export interface WindowName
  extends Pick<LeasedWindow, 'windowId' | 'kind' | 'day' | 'from' | 'to'> {
  readonly stream: string;
}

/** A window that failed in a run. */
export interface WindowFailed extends Pick<WindowName, 'stream' | 'from' | 'to'> {
  readonly reason: string;
}

/** The counts of one run, and what went wrong in it; cuts between windows are not counted as windows. */
export class Tally {
  failures: readonly WindowFailed[] = [];
  /** Streams that were given up for this run. */
  readonly stopped: { readonly stream: string; readonly reason: string }[] = [];
  readonly #counts;

  constructor(due: number) {
    this.#counts = {
      windowsDue: due,
      windowsComplete: 0,
      windowsSplit: 0,
      windowsUnchanged: 0,
      pages: 0,
      records: 0,
      bytes: 0,
    };
  }

  /** Counts one event. */
  add(event: WalkEvent): void {
    switch (event.kind) {
      case 'page':
        this.#counts.pages += 1;
        this.#counts.records += event.records;
        this.#counts.bytes += event.bytes;
        break;
      case 'complete':
        this.#forgive(event.window);
        if (event.window.kind !== 'cut') this.#counts.windowsComplete += 1;
        break;
      case 'failed': {
        this.#forgive(event.window);
        const { stream, from, to } = event.window;
        this.failures = [...this.failures, { stream, from, to, reason: event.reason }];
        break;
      }
      case 'stream-stopped':
        this.stopped.push({ stream: event.stream, reason: event.reason });
        break;
      case 'split':
        this.#counts.windowsSplit += 1;
        break;
      case 'unchanged':
        if (event.window.kind !== 'cut') this.#counts.windowsUnchanged += 1;
        break;
    }
  }

  /** A window that failed and is complete has not failed. */
  #forgive({ stream, from, to }: WindowName): void {
    this.failures = this.failures.filter(
      (failed) => failed.stream !== stream || failed.from !== from || failed.to !== to,
    );
  }

  /** What was counted so far. */
  get counts(): RunCounts {
    return { ...this.#counts, windowsFailed: this.failures.length };
  }
}
