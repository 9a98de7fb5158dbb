/** Recheck: one request shows whether a complete window is still what is stored (DESIGN 4). */
import { EnvelopeError, RequestError } from '../errors.ts';
import type { Page } from '../model.ts';
import { readProvenWalk } from '../store/evidence.ts';
import { type Claim, noteUnchanged } from '../store/leases.ts';
import { compareProbe } from '../store/probes.ts';
import { spanOf, targetOf } from './span.ts';
import type { WindowContext } from './window.ts';

/**
 * Asks for the last record that is stored, and the one after it. Exactly that record, and the same total where the
 * source tells one: nothing has changed, as far as one request can tell.
 * @returns true: noted as unchanged and given back; false: walk it again.
 */
export async function recheck(context: WindowContext, claim: Claim): Promise<boolean> {
  const walk = await readProvenWalk(context.database, claim.windowId);
  if (walk === null) return false;
  const { signal, priority } = context;
  const start = Math.max(0, walk.records - 1);
  let page: Page;
  try {
    const request = { ...targetOf(context.stream, spanOf(claim)), start, length: 2 };
    page = await context.fetchPage(request, { signal, priority });
  } catch (error) {
    // A list that has become shorter may answer with an error there; a walk tells.
    if (error instanceof RequestError && start > 0) return false;
    throw error;
  }
  const envelope = { recordsPath: walk.recordsPath, totalPath: walk.totalPath, relationPath: null };
  const facts = await compareProbe(context.database, walk.walkId, page, envelope);
  if (facts.complaint !== null || facts.records === null)
    throw new EnvelopeError('the answer to a recheck is no page, or tells of an error');
  const sameEnd =
    walk.records === 0 ? facts.records === 0 : facts.records === 1 && facts.beginsWithLast;
  if (!sameEnd || facts.total !== walk.lastTotal) return false;
  await noteUnchanged(context.database, claim, context.recheckDays);
  return true;
}
