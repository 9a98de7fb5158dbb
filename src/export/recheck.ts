/** Recheck: a complete window that is still what is stored is left as it is; any other is walked again (DESIGN 4). */

import { type Claim, noteUnchanged } from '../store/leases.ts';
import { readProvenWalk } from '../store/published.ts';
import { lookAtEnd } from './end-of-list.ts';
import { spanOf, targetOf } from './span.ts';
import type { WindowContext } from './window.ts';

/**
 * Looks at the end of the window's list.
 * @returns true: noted as unchanged and given back; false: walk it again.
 */
export async function recheck(context: WindowContext, claim: Claim): Promise<boolean> {
  const walk = await readProvenWalk(context.database, claim.windowId);
  if (walk === null) return false;
  const { signal, priority } = context;
  const target = targetOf(context.stream, spanOf(claim));
  const { differences } = await context.room.request(() =>
    lookAtEnd(context, target, walk, { signal, priority }),
  );
  if (differences.length > 0) {
    context.log.info(
      { window: claim.from, to: claim.to },
      `walked again: ${differences.join('; ')}`,
    );
    return false;
  }
  await noteUnchanged(context.database, claim, context.recheckDays);
  return true;
}
