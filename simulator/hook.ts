/** The last resort for a behaviour that no switch has: code that answers a request itself. */
import type { Fault } from './faults.ts';
import type { SimulatedRequest } from './request-log.ts';

/** An answer written by hand; 200 and JSON unless it says otherwise. */
export interface HookAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** Answers, or commits a fault, or leaves the request to the simulator by giving undefined. */
export type Hook = (
  request: SimulatedRequest,
) => HookAnswer | Fault | undefined | Promise<HookAnswer | Fault | undefined>;
