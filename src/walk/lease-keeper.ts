/** Keeps a lease while its window is walked, and stops the walk when the lease is lost. */
import { leaseLost } from '../errors.ts';
import { type Lease, renewLease } from '../store/leases.ts';
import type { WindowContext } from './questions/context.ts';

type LeaseContext = Pick<WindowContext, 'database' | 'clock' | 'log' | 'leaseTtlMs' | 'signal'>;

/** Runs `work` with a signal that aborts when the lease is lost, or when the context's signal does. */
export async function whileLeased<T>(
  { database, clock, log, leaseTtlMs, signal }: LeaseContext,
  lease: Lease,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const lost = new AbortController();
  const stop = clock.every(leaseTtlMs / 3, () => {
    renewLease(database, lease, leaseTtlMs).then(
      (held) => {
        if (!held) lost.abort(leaseLost(lease.windowId));
      },
      // The next renewal, or the fence on the next page, tells.
      (error) => log.debug({ err: error }, 'the lease could not be renewed'),
    );
  });
  try {
    return await work(AbortSignal.any([signal, lost.signal]));
  } finally {
    stop();
  }
}
