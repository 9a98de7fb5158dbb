/** What happens while windows are run, for those who watch. */
import type { LeasedWindow } from '../store/leases.ts';
import type { StoredPage, WindowEnd } from './questions/context.ts';

/** One event. */
export type WalkEvent =
  | { readonly kind: 'claimed'; readonly window: WindowName }
  | ({ readonly kind: 'page'; readonly window: WindowName } & StoredPage)
  | (WindowEnd & { readonly window: WindowName })
  | { readonly kind: 'failed'; readonly window: WindowName; readonly reason: string }
  /** Given back or lost, for a reason that is not the window's. */
  | { readonly kind: 'released'; readonly window: WindowName }
  | { readonly kind: 'stream-stopped'; readonly stream: string; readonly reason: string }
  | { readonly kind: 'waiting'; readonly windows: number; readonly owner: string };

/** A window as people name it. */
export interface WindowName
  extends Pick<LeasedWindow, 'windowId' | 'kind' | 'day' | 'from' | 'to'> {
  readonly stream: string;
}
