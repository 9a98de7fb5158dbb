/**
 * Is a window whole? One pure function of the evidence. A window is complete when there is a sufficient proof and no
 * answer since the judged walk began says anything against it; the rules are those of docs/completeness.md (I4).
 */
import type { Claim, ListEnd, Proof } from '../../model.ts';

/** Fewer records than this are no cap on results. */
export const LEAST_CAP = 10;

/** One window in so many is asked for its end even where its total would do. */
const AUDIT_EVERY = 50;

/** Whether the total of this window is not enough for once; by a number that is mixed, since streams take turns with numbers. */
export function isAudited({ windowId }: { readonly windowId: number }): boolean {
  return Math.imul(windowId, 0x9e3779b1) >>> 0 < 2 ** 32 / AUDIT_EVERY;
}

/** How the whole compares with its halves and the cut between them, record by record. */
export interface HalvesObserved {
  /** Records that halves and cut show and the whole does not. */
  readonly more: number;
  /** Records that the whole shows and they do not. */
  readonly less: number;
  /** A half, or what lies across the cut, shows as many records as the whole: a cap would cut both alike. */
  readonly oneSided: boolean;
  /** The walks that were compared. */
  readonly walks: readonly number[];
}

/** What is known of a walk that came to the end of its list, and of everything that was heard since it began; absent: not so, or not asked. */
export interface Evidence {
  /** Records that it stored. */
  readonly stored: number;
  readonly end: ListEnd;
  /** Of every answer since it began. */
  readonly claims: readonly Claim[];
  /** A content stands on more than one of its pages, or its list has moved before: they may be of two orders. */
  readonly repeated?: boolean;
  /** It has several pages, of which none begins with the last record of the one before: pages are counted by number. */
  readonly unlinked?: boolean;
  /** A walk with other page boundaries brought the same records. */
  readonly agreed?: boolean;
  readonly halves?: HalvesObserved;
  /** The sum of the totals of both halves and of the correction of the cut between them. */
  readonly totalOfHalves?: number;
  /** One window in fifty is asked for its end even where its total would do. */
  readonly audited?: boolean;
  /** Records that its newest proof had: fewer may be a new cap. */
  readonly held?: number | null;
  /** A day beside its own was believed by its size, with just as many: both may be cut at a new cap. */
  readonly asManyBeside?: boolean;
  /** Its records stand too near to each other to be halved, and a longer list is shown. */
  readonly longerShown?: boolean;
}

/** What was learned of the stream. */
export interface Learned {
  /** Totals have agreed with an independent proof of so many records; 0: never. */
  readonly calibrated: number;
  /** From this number on totals have been too small; null: never. */
  readonly lowerBoundFrom: number | null;
  /** The largest window that was proven by its halves; 0: none. */
  readonly provenSize: number;
  /** Lists are cut by something else than their number: no size and no total shows that one is whole. */
  readonly cutOtherwise?: boolean;
}

/** Something speaks against a window; `least`: so many records there are at least. */
export interface Against {
  readonly kind: 'against';
  readonly rule: string;
  readonly reason: string;
  readonly least: number;
}

/** What the evidence says. */
export type Verdict =
  | { readonly kind: 'complete'; readonly proof: Proof }
  | Against
  /** Nothing speaks against it, and it does not suffice. */
  | { readonly kind: 'lacking'; readonly needs: Need };

/** What would suffice. */
type Need = 'end' | 'another length' | 'halves' | 'totals of halves';

/**
 * Judges a walk.
 * For the same stored records, one more claim of a record that is not stored, or of a higher total, never makes
 * complete what was not.
 */
export function verdict(evidence: Evidence, learned: Learned): Verdict {
  const contradiction = against(evidence);
  if (contradiction !== null) return contradiction;
  const { stored, end, repeated, unlinked, agreed, claims, halves } = evidence;
  if (stored === 0) {
    if (end !== 'nothing') return lacking('end');
    if (learned.cutOtherwise && halves === undefined) return lacking('halves');
    const why = 'it was empty, and asked again it was empty again';
    const compared = halves && { halves: halves.walks };
    return complete({ kind: 'empty', rule: 'C3', records: 0, why, ...compared });
  }
  if (repeated && !agreed) return lacking('another length');
  const asked = evidence.audited || claims.some((claim) => claim.more && reaches(claim, stored));
  const counted = end === 'open' && asked ? null : believedTotal(evidence, learned);
  if (end === 'open' && counted === null) return lacking('end');
  if (unlinked && counted === null && !agreed) return lacking('another length');
  const isLonger = evidence.longerShown === true && !learned.cutOtherwise;
  if (isLonger || (isProvenSize(evidence, learned) && !isRound(stored))) {
    if (counted !== null) {
      const why = `${claims.length === 1 ? 'its answer' : `all ${claims.length} answers`} told a total of ${stored}`;
      return complete({ kind: 'total', rule: 'C5', records: stored, why, total: stored });
    }
    const why = 'from its last record on the source shows exactly that one';
    return complete({ kind: 'probe', rule: 'C4', records: stored, why });
  }
  if (halves?.oneSided === false) {
    const why = 'its two halves and the cut between them hold exactly its records';
    return complete({ kind: 'halves', rule: 'C6', records: stored, why, halves: halves.walks });
  }
  if (counted !== null && evidence.totalOfHalves === stored) {
    const why = 'its total is the sum of the totals of its halves, corrected by their cut';
    const told = { total: stored, summed: true };
    return complete({ kind: 'total', rule: 'C5', records: stored, why, ...told });
  }
  if (counted !== null && evidence.totalOfHalves === undefined) return lacking('totals of halves');
  return lacking('halves');
}

/** The first claim that the stored records do not answer (C1, C2), and the least that all claims together say. */
function against({ stored, claims, halves }: Evidence): Against | null {
  const least = leastOf(claims);
  const says = (reason: string, rule = 'C1') => ({ kind: 'against', rule, reason, least }) as const;
  const higher = claims.find(({ total }) => total !== null && total > stored);
  if (higher !== undefined)
    return says(`an answer told a total of ${higher.total}, and ${stored} records are stored`);
  if (mostShown(claims) > stored)
    return says(`a record was shown behind the ${stored} that are stored`);
  if (saysMore(claims, stored))
    return says(
      `the answer at the end says that there is more than the ${stored} records that are stored`,
    );
  if (claims.some((claim) => claim.totalMissing))
    return says('an answer lacks the total that the others of this source tell', 'C2');
  if (halves !== undefined && halves.more > 0)
    return says(`the halves of the window show ${halves.more} records that the whole does not`);
  if (halves !== undefined && halves.less > 0)
    return says(`the halves of the window lack ${halves.less} records of the whole`);
  return null;
}

/**
 * Whether the end says that there is more. Of a full page many say so before they have looked: of one as long as was asked for,
 * and of one as long as any, which may be full by the measure of the source, where a shorter answer tells of the end, too.
 */
export function saysMore(claims: readonly Claim[], stored: number): boolean {
  const longest = claims.reduce((most, { came }) => Math.max(most, came), 0);
  const atEnd = claims.filter((claim) => claim.came < claim.length && reaches(claim, stored));
  const shorter = atEnd.filter(({ came }) => came < longest);
  return (shorter.length > 0 ? shorter : atEnd).some(({ more }) => more);
}

const reaches = ({ start, came }: Claim, stored: number): boolean => start + came >= stored;

/** "There is a record at offset s" and "there are N", as the least number of records. */
export const leastOf = (claims: readonly Claim[]): number =>
  Math.max(mostShown(claims), mostTold(claims));

/** Up to where records were shown; 0: none was. */
export const mostShown = (claims: readonly Claim[]): number =>
  claims.reduce((most, { start, came }) => Math.max(most, came > 0 ? start + came : 0), 0);

/** The highest total that was told; 0: none was. */
export const mostTold = (claims: readonly Claim[]): number =>
  claims.reduce((most, { total }) => Math.max(most, total ?? 0), 0);

/** Whether a total of so many is exact: totals are calibrated, and none so large has been too small. */
export const isExact = (total: number, { calibrated, lowerBoundFrom }: Learned): boolean =>
  calibrated > 0 && (lowerBoundFrom === null || total < lowerBoundFrom);

/** The total, where it is exact, and every answer told it. */
export function believedTotal(
  { stored, claims }: Pick<Evidence, 'stored' | 'claims'>,
  learned: Learned,
): number | null {
  if (!isExact(stored, learned)) return null;
  const told = claims.filter(({ total }) => total !== null);
  const exact = told.every(({ total, lowerBound }) => total === stored && !lowerBound);
  return exact && told.length > 0 ? stored : null;
}

/**
 * Whether windows of this size cannot be cut short unseen: larger ones were proven by their halves, this one never held
 * more, and no other one ends at the same number; or it is below any cap.
 */
function isProvenSize(evidence: Evidence, { provenSize, cutOtherwise }: Learned): boolean {
  const { stored, held, asManyBeside } = evidence;
  if (cutOtherwise) return false;
  return stored < LEAST_CAP || (stored < provenSize && stored >= (held ?? 0) && !asManyBeside);
}

/** One or two digits with zeros behind them, a power of two or of ten, or one less than such a power: there services cap their results. */
export function isRound(records: number): boolean {
  if (records < LEAST_CAP) return false;
  let digits = records;
  while (digits % 10 === 0) digits /= 10;
  const isBelowPower = /^9+$/.test(String(records)) || isPowerOfTwo(records + 1);
  return (records % 10 === 0 && digits < 100) || isPowerOfTwo(records) || isBelowPower;
}

/** Whether it is 1, 2, 4, 8 and so on. */
export const isPowerOfTwo = (count: number): boolean => Number.isInteger(Math.log2(count));

const complete = (proof: Proof): Verdict => ({ kind: 'complete', proof });

const lacking = (needs: Need): Verdict => ({ kind: 'lacking', needs });
