/** When has a walk seen its whole window? Pure decisions over what its pages showed (DESIGN 5.1 to 5.4; I4). */
import type { WalkFault } from '../errors.ts';
import type { Proof } from '../model.ts';

/** What one stored page showed. */
export interface PageSeen {
  readonly records: number;
  readonly total: number | null;
  /** `gte`: the total is a lower bound, by the source's own word. */
  readonly relation: string | null;
  /** It equals an earlier page of the walk, record by record. */
  readonly repeats: boolean;
}

/** What a walk has seen so far: a fold over its pages, so that a resumed walk knows what the first worker knew. */
export interface WalkSeen {
  /** The length that its pages ask for. */
  readonly pageLength: number;
  readonly pages: number;
  /** Records stored; the next start. */
  readonly records: number;
  readonly lastRecords: number;
  readonly largestPage: number;
  readonly firstTotal: number | null;
  readonly lastTotal: number | null;
  /** More came than the total says, or the source says so: the total proves nothing. */
  readonly lowerBound: boolean;
  /** A page carried a total larger than itself, so the total is not merely the page's own count. */
  readonly totalsMeanWindow: boolean;
  /** The last page equals an earlier one, record by record. */
  readonly repeats: boolean;
  /** The far request has shown that the source does look at `start`. */
  readonly startHonoured: boolean;
  /** The checkpoint at which a probe has shown more records; −1: none. */
  readonly moreAt: number;
}

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

/** Counts at which services cap results without a word; an end at exactly one of them proves nothing. */
export const ROUND_CAPS: ReadonlySet<number> = new Set([
  1_000, 5_000, 10_000, 20_000, 50_000, 65_536, 100_000,
]);

/** A walk before its first page; `totalsMeanWindow` where other walks of the stream have shown it. */
export function nothingSeen(pageLength: number, totalsMeanWindow = false): WalkSeen {
  return {
    pageLength,
    pages: 0,
    records: 0,
    lastRecords: 0,
    largestPage: 0,
    firstTotal: null,
    lastTotal: null,
    lowerBound: false,
    totalsMeanWindow,
    repeats: false,
    startHonoured: false,
    moreAt: -1,
  };
}

/** The walk after one more page. */
export function withPage(seen: WalkSeen, page: PageSeen): WalkSeen {
  const records = seen.records + page.records;
  const beyond = page.total !== null && records > Math.max(page.total, seen.firstTotal ?? 0);
  return {
    ...seen,
    pages: seen.pages + 1,
    records,
    lastRecords: page.records,
    largestPage: Math.max(seen.largestPage, page.records),
    firstTotal: seen.pages === 0 ? page.total : seen.firstTotal,
    lastTotal: page.total,
    lowerBound: seen.lowerBound || page.relation === 'gte' || beyond,
    totalsMeanWindow:
      seen.totalsMeanWindow ||
      (page.total !== null && page.records > 0 && page.total > page.records),
    repeats: page.records > 0 && page.repeats,
  };
}

/** The step after a page. */
export function afterPage(seen: WalkSeen): Step {
  if (seen.repeats && !seen.startHonoured) return { kind: 'far' };
  const total = seen.lowerBound ? null : seen.lastTotal;
  if (total !== null && seen.firstTotal !== null && total !== seen.firstTotal)
    return fault('shifted', `the total moved from ${seen.firstTotal} to ${total} during the walk`);
  if (total !== null && seen.records < total)
    return seen.lastRecords > 0
      ? { kind: 'page' }
      : fault(
          'empty-before-total',
          `an empty page at ${seen.records}, where the total says ${total}: the source may cap its results`,
        );
  if (seen.records === 0) return { kind: 'confirm' };
  if (total !== null) {
    const trusted = seen.totalsMeanWindow && seen.firstTotal === total && !ROUND_CAPS.has(total);
    return trusted
      ? {
          kind: 'end',
          proof: { kind: 'total', firstTotal: total, lastTotal: total, records: total },
        }
      : { kind: 'probe' };
  }
  const full = seen.pages === 1 ? seen.pageLength : seen.largestPage;
  // A short page alone is never the end: it is asked about.
  return seen.lastRecords > 0 && seen.lastRecords >= full ? { kind: 'page' } : { kind: 'probe' };
}

/** What a probe, or a confirming request, showed. */
export interface ProbeSeen {
  readonly records: number;
  readonly total: number | null;
  /** Its first record is the last one stored. */
  readonly beginsWithLast: boolean;
  readonly sha256: string;
}

/** The step after a closing probe. */
export function afterProbe(seen: WalkSeen, probe: ProbeSeen): Step {
  if (probe.records === 0)
    return fault(
      'shifted',
      `the closing probe at ${seen.records - 1} found nothing where the last record was`,
    );
  if (!probe.beginsWithLast)
    return fault(
      'shifted',
      `the closing probe at ${seen.records - 1} found another record than the last one stored`,
    );
  if (probe.records > 1)
    return seen.moreAt === seen.records
      ? fault('shifted', `a probe shows more records after ${seen.records}, a page shows none`)
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
  // A source that gives one record at a time cannot show a second one: ask where the list should have ended.
  if (seen.largestPage === 1) return { kind: 'confirm' };
  return closed(seen, seen.records - 1, probe.sha256);
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
  if (seen.records === 0 && answer.total !== null && answer.total > 0)
    return fault('empty-before-total', `an empty page at 0, where the total says ${answer.total}`);
  return closed(seen, seen.records, answer.sha256);
}

/** The step after the request far beyond any end, made because a page repeated. */
export function afterFar(seen: WalkSeen, sameAgain: boolean): Step {
  if (sameAgain)
    return fault(
      'start-ignored',
      'the source answers with the same page whatever `start` is: it cannot be paged',
    );
  return afterPage({ ...seen, startHonoured: true });
}

function closed(seen: WalkSeen, start: number, sha256: string): Step {
  if (ROUND_CAPS.has(seen.records))
    return fault(
      'capped',
      `the list ends at exactly ${seen.records} records, which looks like a cap on results`,
    );
  return { kind: 'end', proof: { kind: 'probe', start, records: seen.records, sha256 } };
}

function fault(kind: WalkFault, reason: string): Step {
  return { kind: 'fault', fault: kind, reason };
}
