/** When has a walk seen its whole window? Pure decisions over what its pages showed (DESIGN 5.1 to 5.4; I4). */
import type { WalkFault } from '../errors.ts';
import type { Proof } from '../model.ts';
import type { WalkSeen } from './seen.ts';

/** What to do next. */
export type Step =
  | { readonly kind: 'page' }
  /** Ask for two records from the last one stored: exactly that one must come. */
  | { readonly kind: 'probe' }
  /** Ask once more where the list seemed to end: nothing must come. */
  | { readonly kind: 'confirm' }
  /** Ask far beyond any end: a source that answers with a known page ignores `start`. */
  | { readonly kind: 'far' }
  | { readonly kind: 'end'; readonly proof: Proof }
  | { readonly kind: 'fault'; readonly fault: WalkFault; readonly reason: string };

/** Pages without records in a row that are taken for the source's word. */
const EMPTY_PAGES = 3;

/** Counts at which services cap results without a word; an end at exactly one of them proves nothing. */
export const ROUND_CAPS: ReadonlySet<number> = new Set([
  1_000, 5_000, 10_000, 20_000, 50_000, 65_536, 100_000,
]);

/** A page that does not begin with the last record stored, though that was asked for. */
export interface BreakSeen {
  /** How many records it has. */
  readonly came: number;
  readonly total: number | null;
  /** It equals an earlier page of the walk. */
  readonly sameAgain: boolean;
  /** How many such pages there were in a row. */
  readonly breaks: number;
}

/** The step after a page that does not begin with the last record stored. */
export function afterBreak(seen: WalkSeen, page: BreakSeen): Step {
  if (page.came > 0) {
    if (page.sameAgain && !seen.startHonoured) return { kind: 'far' };
    return fault(
      'shifted',
      `the page after record ${seen.records} does not begin with that record`,
    );
  }
  // An empty page may be a moment's weakness of the source: it is asked for again.
  if (page.breaks < EMPTY_PAGES) return { kind: 'page' };
  return page.total !== null && page.total > seen.records
    ? fault(
        'empty-before-total',
        `empty pages at ${seen.records}, where the total says ${page.total}`,
      )
    : fault('capped', `empty pages from record ${seen.records} on, which had come before`);
}

/** The step after a page. */
export function afterPage(seen: WalkSeen): Step {
  if (seen.repeats && !seen.startHonoured) return { kind: 'far' };
  const total = seen.lowerBound ? null : seen.lastTotal;
  if (total !== null && seen.firstTotal !== null && total !== seen.firstTotal)
    return fault('shifted', `the total moved from ${seen.firstTotal} to ${total} during the walk`);
  const cap = beyondCap(seen);
  if (cap !== null) return fault('beyond-known-cap', cap);
  // A total of no more than the page may be the page's own count.
  const many = Math.max(seen.mostRecords ?? Number.POSITIVE_INFINITY, seen.records);
  if (seen.pages === 1 && total !== null && total > many)
    return fault(
      'large',
      `the total says ${total}: more than ${seen.mostRecords} records are walked in parts`,
    );
  if (total !== null && seen.records < total) {
    // An empty page may be a moment's weakness of the source: it is asked for again.
    if (seen.emptyRun < EMPTY_PAGES) return { kind: 'page' };
    return fault(
      'empty-before-total',
      `empty pages at ${seen.records}, where the total says ${total}`,
    );
  }
  if (seen.records === 0)
    return total === 0 && seen.totalsMeanWindow
      ? { kind: 'end', proof: totalProof(0) }
      : { kind: 'confirm' };
  const full = seen.pages === 1 ? seen.pageLength : seen.largestPage;
  if (total !== null) {
    // A full page may end where a wrong total says; only a shorter one ends where the list does.
    const short = seen.lastCame < full && seen.lastCame < seen.fullPage;
    const counted = seen.totalsMeanWindow && seen.firstTotal === total;
    const trusted = short && counted && !looksCapped(seen);
    return trusted ? { kind: 'end', proof: totalProof(total) } : { kind: 'probe' };
  }
  // The last record alone, asked for again: that page was the probe.
  if (seen.lastRecords === 0 && seen.lastCame === 1) return { kind: 'confirm' };
  // A short page alone is never the end: it is asked about.
  return seen.lastRecords > 0 && seen.lastCame >= full ? { kind: 'page' } : { kind: 'probe' };
}

const totalProof = (total: number): Proof => ({
  kind: 'total',
  firstTotal: total,
  lastTotal: total,
  records: total,
});

/** Why paging cannot reach the end, as far as the first page and a known cap tell. */
function beyondCap(seen: WalkSeen): string | null {
  const { offsetCap, lastTotal, lowerBound } = seen;
  if (seen.pages !== 1 || offsetCap === null || lastTotal === null) return null;
  if (lowerBound ? lastTotal < offsetCap : lastTotal <= offsetCap) return null;
  const least = lowerBound ? 'at least ' : '';
  return `the total says ${least}${lastTotal}, and paging goes no deeper than ${offsetCap}`;
}

/** An end at a round count is no end, until a larger window of the stream was proven. */
function looksCapped(seen: WalkSeen): boolean {
  return ROUND_CAPS.has(seen.records) && seen.records >= seen.provenSize;
}

/** What a probe, or a confirming request, showed. */
export interface ProbeSeen {
  readonly records: number;
  readonly total: number | null;
  /** Its first record is the last one stored. */
  readonly beginsWithLast: boolean;
  /** Its first record is one of those stored. */
  readonly beginsWithKnown: boolean;
  readonly sha256: string;
}

/** The step after a closing probe. */
export function afterProbe(seen: WalkSeen, probe: ProbeSeen): Step {
  if (probe.records === 0)
    return fault(
      'shifted',
      `the closing probe at ${seen.records - 1} found nothing where the last record was`,
    );
  // Records of one page came in one answer: whichever of them stands last now, they are as many as they were.
  const sameEnd =
    probe.beginsWithLast || (seen.pages === 1 && probe.records === 1 && probe.beginsWithKnown);
  // An earlier record in its place: perhaps the source does not look at `start` at all.
  if (!sameEnd && probe.beginsWithKnown && !seen.startHonoured) return { kind: 'far' };
  if (!sameEnd)
    return fault(
      'shifted',
      `the closing probe at ${seen.records - 1} found another record than the last one stored`,
    );
  if (probe.records > 1)
    return seen.moreAt === seen.records
      ? fault('capped', `there are more than ${seen.records} records, but none from there on`)
      : { kind: 'page' };
  if (
    !seen.lowerBound &&
    seen.lastTotal !== null &&
    probe.total !== null &&
    probe.total !== seen.lastTotal &&
    seen.totalsMeanWindow
  )
    return fault(
      'shifted',
      `the total moved from ${seen.lastTotal} to ${probe.total} before the closing probe`,
    );
  const counted =
    !seen.lowerBound && seen.firstTotal === seen.records && probe.total === seen.records;
  // The probe's own page is smaller than the total that it carries: the total counts the window. A source that gives
  // one record at a time could not have shown a second one.
  if (counted && seen.largestPage > 1 && probe.total > probe.records && !looksCapped(seen))
    return { kind: 'end', proof: totalProof(seen.records) };
  // A source that shortens its pages may shorten this one: the place behind the end is asked for as well.
  return { kind: 'confirm' };
}

/** The step after the request that confirms an empty window, or the end behind single-record pages. */
export function afterConfirm(seen: WalkSeen, answer: ProbeSeen): Step {
  if (answer.records > 0)
    return seen.moreAt === seen.records
      ? fault(
          'shifted',
          `the source shows records at ${seen.records} on one request and none on another`,
        )
      : { kind: 'page' };
  if (seen.records === 0 && !seen.lowerBound && answer.total !== null && answer.total > 0)
    return fault('shifted', `an empty page at 0, and then a total of ${answer.total}`);
  return closed(seen, answer.sha256);
}

/** The step after the request far beyond any end, made because a page repeated. */
export function afterFar(seen: WalkSeen, sameAgain: boolean, total: number | null): Step {
  if (sameAgain)
    return fault(
      'start-ignored',
      'the source answers with the same page whatever `start` is: it cannot be paged',
    );
  if (!seen.lowerBound && total !== null && seen.lastTotal !== null && total !== seen.lastTotal)
    return fault('shifted', `the total moved from ${seen.lastTotal} to ${total} during the walk`);
  return seen.repeats
    ? afterPage({ ...seen, startHonoured: true })
    : fault('shifted', `the page after record ${seen.records} is an earlier one`);
}

function closed(seen: WalkSeen, sha256: string): Step {
  if (looksCapped(seen))
    return fault(
      'capped',
      `the list ends at exactly ${seen.records} records, which looks like a cap on results`,
    );
  const { records } = seen;
  return { kind: 'end', proof: { kind: 'probe', start: records, records, sha256 } };
}

function fault(kind: WalkFault, reason: string): Step {
  return { kind: 'fault', fault: kind, reason };
}
