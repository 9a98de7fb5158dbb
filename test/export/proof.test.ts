/** Each decision about the end of a walk, by what was seen (DESIGN 5.1 to 5.4; I4). */
import { describe, expect, it } from 'vitest';
import {
  afterBreak,
  afterConfirm,
  afterFar,
  afterPage,
  afterProbe,
  type BreakSeen,
  type ProbeSeen,
  ROUND_CAPS,
} from '../../src/export/proof.ts';
import {
  nothingSeen,
  type PageSeen,
  skipOf,
  type WalkSeen,
  withPage,
} from '../../src/export/seen.ts';

const LENGTH = 10;
/** A stream of which nothing is known yet. */
const STREAM = { fullPage: 0, totalsMeanWindow: false, provenSize: 0, offsetCap: null };
const page = (
  records: number,
  total: number | null = null,
  change: Partial<PageSeen> = {},
): PageSeen => ({
  records,
  skip: 0,
  total,
  relation: null,
  repeats: false,
  ...change,
});
/** A walk that saw these pages; a number is a page with so many records and no total. */
const seen = (...pages: (number | PageSeen)[]): WalkSeen =>
  pages
    .map((each) => (typeof each === 'number' ? page(each) : each))
    .reduce(withPage, nothingSeen(LENGTH));
/** The same, of a stream whose totals are known to count the window. */
const windowTotals = (...pages: PageSeen[]): WalkSeen =>
  pages.reduce(withPage, nothingSeen(LENGTH, { ...STREAM, totalsMeanWindow: true }));
const probe = (records: number, change: Partial<ProbeSeen> = {}): ProbeSeen => ({
  records,
  total: null,
  beginsWithLast: records > 0,
  beginsWithKnown: records > 0,
  sha256: 'ab',
  ...change,
});

describe('a walk that has seen pages', () => {
  it('adds them up', () => {
    expect(seen(page(10, 23), page(8, 23), page(5, 23))).toMatchObject({
      pages: 3,
      records: 23,
      lastRecords: 5,
      largestPage: 10,
      firstTotal: 23,
      lastTotal: 23,
      lowerBound: false,
      totalsMeanWindow: true,
    });
  });

  it.each<[string, WalkSeen, boolean]>([
    ['the total was the page alone', seen(page(10, 10)), false],
    ['the total was larger than its page', seen(page(10, 11)), true],
    ['an empty page told a total', seen(page(0, 11)), false],
    [
      'another walk of the stream has shown it',
      withPage(nothingSeen(LENGTH, { ...STREAM, totalsMeanWindow: true }), page(3, 3)),
      true,
    ],
  ])('knows whether totals mean the window: %s', (_, walk, means) => {
    expect(walk.totalsMeanWindow).toBe(means);
  });

  it.each<[string, WalkSeen, boolean]>([
    ['as many as it says', seen(page(10, 12), page(2, 12)), false],
    ['more than it says', seen(page(10, 12), page(3, 12)), true],
    ['more than the page count says', seen(page(10, 10), page(4, 4)), true],
    ['fewer than the first one said', seen(page(10, 12), page(1, 11)), false],
    ['gte by its own word', seen(page(10, 10_000, { relation: 'gte' })), true],
    ['eq by its own word', seen(page(10, 12, { relation: 'eq' })), false],
  ])('knows when the total is a lower bound: %s', (_, walk, lower) => {
    expect(walk.lowerBound).toBe(lower);
  });
});

describe('after a page', () => {
  it.each<[string, WalkSeen, ReturnType<typeof afterPage>['kind']]>([
    ['a full page: another one', seen(10), 'page'],
    ['a full page after a short one, as a clamped server gives it', seen(4, 4), 'page'],
    ['a short first page', seen(4), 'probe'],
    ['a short page', seen(10, 9), 'probe'],
    ['an empty page after records', seen(10, 0), 'probe'],
    ['an empty window', seen(0), 'confirm'],
    ['fewer than the total', seen(page(4, 12)), 'page'],
    ['an empty page below the total may be a weakness', seen(page(10, 12), page(0, 12)), 'page'],
    ['the total met by a full page', seen(page(10, 20), page(10, 20)), 'probe'],
    ['an empty window with total 0 that means the window', windowTotals(page(0, 0)), 'end'],
    ['as many as the total, which means the window', seen(page(10, 12), page(2, 12)), 'end'],
    ['as many as the total, which may be the page alone', seen(page(7, 7)), 'probe'],
    ['no total at the end where the first page had one', seen(page(10, 12), page(2)), 'probe'],
    ['an empty window with total 0', seen(page(0, 0)), 'confirm'],
    ['a lower bound and a full page', seen(page(10, 10, { relation: 'gte' })), 'page'],
    [
      'a lower bound and a short page',
      seen(page(10, 10, { relation: 'gte' }), page(3, 10)),
      'probe',
    ],
    ['a page that came before', seen(10, page(10, null, { repeats: true })), 'far'],
    ['an empty page never repeats', seen(10, page(0, null, { repeats: true })), 'probe'],
  ])('%s', (_, walk, kind) => {
    expect(afterPage(walk).kind).toBe(kind);
  });

  it.each<[string, WalkSeen, string, RegExp]>([
    ['the total moved', seen(page(10, 30), page(10, 31)), 'shifted', /from 30 to 31/],
    [
      'the third empty page in a row below the total',
      seen(page(10, 12), page(0, 12), page(0, 12), page(0, 12)),
      'empty-before-total',
      /at 10, where the total says 12/,
    ],
    [
      'three empty pages from the beginning, below the total',
      seen(page(0, 12), page(0, 12), page(0, 12)),
      'empty-before-total',
      /at 0/,
    ],
    [
      'a total beyond the known depth of paging',
      { ...seen(page(10, 12)), offsetCap: 11 },
      'beyond-known-cap',
      /says 12, and paging goes no deeper than 11/,
    ],
  ])('%s: a fault', (_, walk, fault, reason) => {
    expect(afterPage(walk)).toMatchObject({
      kind: 'fault',
      fault,
      reason: expect.stringMatching(reason),
    });
  });

  it('ends with the numbers as its proof (I4)', () => {
    expect(afterPage(seen(page(10, 12), page(2, 12)))).toEqual({
      kind: 'end',
      proof: { kind: 'total', firstTotal: 12, lastTotal: 12, records: 12 },
    });
  });

  it.each([...ROUND_CAPS])('does not believe a total of %i', (cap) => {
    const walk = { ...seen(page(10, cap)), records: cap };
    expect(afterPage(walk).kind).toBe('probe');
  });

  it('asks the far end once', () => {
    const walk = { ...seen(10, page(10, null, { repeats: true })), startHonoured: true };
    expect(afterPage(walk).kind).toBe('page');
  });
});

describe('after a probe', () => {
  const walk = seen(10, 4);

  it('that brings the last record and no other, the end is asked for, and then the walk has ended (I4)', () => {
    expect(afterProbe(walk, probe(1))).toEqual({ kind: 'confirm' });
    expect(afterConfirm(walk, probe(0))).toEqual({
      kind: 'end',
      proof: { kind: 'probe', start: 14, records: 14, sha256: 'ab' },
    });
  });

  it('that tells the total of the records stored, which is more than its own, the walk has ended (I4)', () => {
    const told = seen(page(7, 7));
    expect(afterProbe(told, probe(1, { total: 7 }))).toEqual({
      kind: 'end',
      proof: { kind: 'total', firstTotal: 7, lastTotal: 7, records: 7 },
    });
    // One record with a total of one: it may be the page's own.
    expect(afterProbe(seen(page(1, 1)), probe(1, { total: 1 }))).toEqual({ kind: 'confirm' });
  });

  it('that brings another record of the only page, nothing is missed: an order within a page hides nothing', () => {
    const other = probe(1, { beginsWithLast: false });
    expect(afterProbe(seen(4), other)).toEqual({ kind: 'confirm' });
    expect(afterProbe(seen(4), { ...other, beginsWithKnown: false })).toMatchObject({
      fault: 'shifted',
    });
    // An earlier record may also be a source that ignores start: it is asked, and then the list has shifted.
    expect(afterProbe(seen(10, 4), other)).toEqual({ kind: 'far' });
    const honoured = { ...seen(10, 4), startHonoured: true };
    expect(afterProbe(honoured, other)).toMatchObject({ fault: 'shifted' });
  });

  it.each<[string, ProbeSeen]>([
    ['nothing', probe(0)],
    ['another record', probe(1, { beginsWithLast: false, beginsWithKnown: false })],
    ['another record and more', probe(2, { beginsWithLast: false, beginsWithKnown: false })],
  ])('that brings %s, the list has shifted', (_, answer) => {
    expect(afterProbe(walk, answer)).toMatchObject({ kind: 'fault', fault: 'shifted' });
  });

  it('that brings more, the walk goes on; but only once from one place', () => {
    expect(afterProbe(walk, probe(2))).toEqual({ kind: 'page' });
    expect(afterProbe({ ...walk, moreAt: 14 }, probe(2))).toMatchObject({
      kind: 'fault',
      fault: 'capped',
    });
  });

  it('of a source of single records, the end is asked for as well', () => {
    expect(afterProbe(seen(1, 1, 0), probe(1))).toEqual({ kind: 'confirm' });
  });

  it('with another total, the list has shifted; unless totals mean pages, or are lower bounds', () => {
    const told = seen(page(1000, 2000), page(1000, 2000));
    expect(afterProbe(told, probe(1, { total: 1999 }))).toMatchObject({
      kind: 'fault',
      fault: 'shifted',
    });
    expect(afterProbe(seen(page(7, 7)), probe(1, { total: 1 })).kind).toBe('confirm');
    const bound = seen(page(10, 10, { relation: 'gte' }), page(3, 10));
    expect(afterProbe(bound, probe(1, { total: 11 })).kind).toBe('confirm');
  });

  it.each([...ROUND_CAPS])('an end at exactly %i records looks like a cap', (cap) => {
    const at = { ...walk, records: cap };
    const capped = { kind: 'fault', fault: 'capped' };
    expect(afterProbe(at, probe(1))).toEqual({ kind: 'confirm' });
    expect(afterConfirm(at, probe(0))).toMatchObject(capped);
    // Also where a total says so, which may be capped as well.
    const told = { ...at, firstTotal: cap, lastTotal: cap, totalsMeanWindow: true };
    expect(afterProbe(told, probe(1, { total: cap }))).toEqual({ kind: 'confirm' });
    expect(afterConfirm(told, probe(0, { total: cap }))).toMatchObject(capped);
    // A proven window of just that size may have ended at the cap as well; a larger one cannot have.
    expect(afterConfirm({ ...told, provenSize: cap }, probe(0))).toMatchObject(capped);
    expect(afterConfirm({ ...told, provenSize: cap + 1 }, probe(0))).toMatchObject({ kind: 'end' });
  });
});

describe('after a confirmation', () => {
  it('of nothing, an empty window has ended', () => {
    expect(afterConfirm(seen(0), probe(0))).toEqual({
      kind: 'end',
      proof: { kind: 'probe', start: 0, records: 0, sha256: 'ab' },
    });
  });

  it('that brings records, the walk goes on; but only once from one place', () => {
    expect(afterConfirm(seen(0), probe(2))).toEqual({ kind: 'page' });
    expect(afterConfirm({ ...seen(0), moreAt: 0 }, probe(2))).toMatchObject({
      kind: 'fault',
      fault: 'shifted',
    });
  });

  it('that tells of more than it brings, the window is not empty', () => {
    expect(afterConfirm(seen(0), probe(0, { total: 5 }))).toMatchObject({
      kind: 'fault',
      fault: 'shifted',
    });
  });
});

describe('after a page that does not begin with the last record stored', () => {
  const walk = seen(10);
  const broken = { came: 9, total: null, sameAgain: false, breaks: 1 };

  it.each<[string, Partial<BreakSeen>, string]>([
    ['another record', {}, 'shifted'],
    ['three empty pages', { came: 0, breaks: 3 }, 'capped'],
    ['three empty pages below the total', { came: 0, breaks: 3, total: 12 }, 'empty-before-total'],
  ])('%s: a fault', (_, change, kind) => {
    expect(afterBreak(walk, { ...broken, ...change })).toMatchObject({
      kind: 'fault',
      fault: kind,
    });
  });

  it('nothing: it is asked for again, twice', () => {
    expect(afterBreak(walk, { ...broken, came: 0, breaks: 2 })).toEqual({ kind: 'page' });
  });

  it('a known page: the far end is asked for, once', () => {
    const known = { ...broken, sameAgain: true };
    expect(afterBreak(walk, known)).toEqual({ kind: 'far' });
    expect(afterBreak({ ...walk, startHonoured: true }, known)).toMatchObject({ fault: 'shifted' });
    // What it shows: the source looks at start, so the list has moved.
    expect(afterFar(walk, false, null)).toMatchObject({ fault: 'shifted' });
  });
});

describe('the record asked for again', () => {
  it('is the last one stored, but not in the first page, and not of a source of single records', () => {
    expect(skipOf(seen())).toBe(0);
    expect(skipOf(seen(0))).toBe(0);
    expect(skipOf(seen(10))).toBe(1);
    expect(skipOf(seen(1))).toBe(0);
    expect(skipOf(seen(10, 1))).toBe(1);
  });
});

describe('after the far end', () => {
  const repeated = seen(10, page(10, null, { repeats: true }));

  it('that brings a known page, the source ignores start', () => {
    expect(afterFar(repeated, true, null)).toMatchObject({ kind: 'fault', fault: 'start-ignored' });
  });

  it('that brings anything else, the walk goes on as after a page', () => {
    expect(afterFar(repeated, false, null)).toEqual({ kind: 'page' });
  });

  it('that tells another total, the list has shifted', () => {
    const told = seen(page(10, 30), page(10, 30, { repeats: true }));
    expect(afterFar(told, false, 31)).toMatchObject({ kind: 'fault', fault: 'shifted' });
    expect(afterFar(told, false, 30)).toEqual({ kind: 'page' });
  });
});
