/** What happens while windows are run, for those who watch. */
import type { WindowKind } from '../model.ts';
import type { WindowEnd } from './questions/context.ts';

/** One event. */
export type WalkEvent =
  | { readonly kind: 'claimed'; readonly window: WindowName }
  | {
      readonly kind: 'page';
      readonly window: WindowName;
      readonly records: number;
      readonly bytes: number;
      readonly total: number | null;
    }
  | (WindowEnd & { readonly window: WindowName })
  | { readonly kind: 'failed'; readonly window: WindowName; readonly reason: string }
  /** Given back or lost, for a reason that is not the window's. */
  | { readonly kind: 'released'; readonly window: WindowName }
  | { readonly kind: 'stream-stopped'; readonly stream: string; readonly reason: string }
  | { readonly kind: 'waiting'; readonly windows: number; readonly owner: string };

/** A window as people name it. */
export interface WindowName {
  readonly windowId: number;
  readonly kind: WindowKind;
  readonly stream: string;
  readonly day: string;
  readonly from: string;
  readonly to: string;
}
