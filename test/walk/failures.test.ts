/** What follows from a failure: whose it is, how long to wait, with which page length to try again, and what the run counts. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  EnvelopeError,
  InterruptedError,
  LeaseLostError,
  RefusedError,
  RequestError,
  SettingsError,
  TooLargeError,
  TransientError,
  UnavailableError,
  WalkError,
} from '../../src/errors.ts';
import type { Proof } from '../../src/model.ts';
import { BodyRefusedError, StatementError } from '../../src/store/connection/sqlstate.ts';
import { Tally } from '../../src/walk/events.ts';
import { windowFailure } from '../../src/walk/failures.ts';
import { nextPageLength } from '../../src/walk/once.ts';

const MINUTE = 60_000;

describe('a failure', () => {
  it.each([
    { error: new WalkError('shifted', 'moved'), judged: true },
    { error: new BodyRefusedError('22P05', 'NUL'), judged: true },
    { error: new EnvelopeError('no list'), judged: false },
    { error: new RequestError(400, 'bad'), judged: false },
    { error: new TooLargeError('too large'), judged: false },
  ])('$error is of the window; what was walked is no evidence any more: $judged', (given) => {
    const { error, judged } = given;
    const delayMs = 5 * MINUTE;
    expect(windowFailure(error, 0, 0.5)).toEqual({ reason: error.message, delayMs, judged });
  });

  it.each([
    new RefusedError(401, 'key'),
    new UnavailableError('api', 'away'),
    new UnavailableError('database', 'away'),
    new TransientError('once'),
    new SettingsError('wrong'),
    new InterruptedError('SIGTERM'),
    new LeaseLostError('lost'),
    new StatementError('23514', 'check'),
    new TypeError('bug'),
    'text',
  ])('%s stops more than the window', (error) => {
    expect(windowFailure(error, 0, 0.5)).toBeNull();
  });

  it('tells its hint', () => {
    expect(
      windowFailure(new EnvelopeError('no list', { hint: 'Set records_path' }), 0, 0.5)?.reason,
    ).toBe('no list (Set records_path)');
  });

  it('waits longer each time, up to six hours, spread by chance', () => {
    fc.assert(
      fc.property(
        fc.nat(1_000_000),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (failures, random) => {
          const wait = windowFailure(new EnvelopeError('x'), failures, random)?.delayMs ?? -1;
          const nominal = Math.min(6 * 60 * MINUTE, 5 * MINUTE * 2 ** Math.min(failures, 20));
          expect(wait).toBeGreaterThanOrEqual(nominal * 0.75);
          expect(wait).toBeLessThanOrEqual(nominal * 1.25);
        },
      ),
    );
  });
});

const walksOf = (walks: number, largestPage: number, stored: number) =>
  Array.from({ length: walks }, () => ({ largestPage, stored }));

describe('the page length of the next walk', () => {
  it('is that of the settings for the first one', () => {
    expect(nextPageLength(1000, [])).toBe(1000);
  });

  it('is another one for every further walk, at least one, and never longer than what came', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 10_000 }),
        fc.nat(20),
        fc.nat(10_000),
        (pageLength, walks, largestPage) => {
          // More than one page came: with one page only, no other length would change anything.
          const records = largestPage + 1;
          const next = nextPageLength(pageLength, walksOf(walks, largestPage, records));
          expect(next).toBeGreaterThanOrEqual(1);
          expect(next).toBeLessThanOrEqual(pageLength);
          if (walks > 0 && largestPage > 0) expect(next).toBeLessThanOrEqual(largestPage);
          expect(Number.isInteger(next)).toBe(true);
        },
      ),
    );
  });

  it('differs between any two of the first five walks, where pages are not tiny', () => {
    const lengths = [0, 1, 2, 3, 4].map((walks) => nextPageLength(50, walksOf(walks, 50, 60)));
    expect(new Set(lengths).size).toBe(5);
  });

  it('stays where the window fits into one page, because there the order hides nothing', () => {
    expect(nextPageLength(50, walksOf(2, 49, 49))).toBe(50);
    expect(nextPageLength(50, walksOf(2, 50, 50))).toBeLessThan(50);
  });
});

describe('the tally of a run', () => {
  const window = {
    windowId: 1,
    kind: 'day' as const,
    stream: 'events',
    day: '2026-03-05',
    from: '2026-03-05 00:00:00',
    to: '2026-03-05 23:59:59',
  };
  const proof: Proof = { kind: 'total', rule: 'C5', why: 'told', records: 1 };

  it('adds up pages, ends, failures and stopped streams', () => {
    const tally = new Tally(3);
    tally.add({ kind: 'claimed', window });
    tally.add({ kind: 'page', window, records: 50, bytes: 700, total: null });
    tally.add({ kind: 'page', window, records: 3, bytes: 40, total: 53 });
    tally.add({ kind: 'complete', window, proof });
    tally.add({ kind: 'complete', window: { ...window, kind: 'cut' }, proof });
    tally.add({ kind: 'failed', window, reason: 'shifted' });
    tally.add({ kind: 'split', window, by: 'time', parts: 2, reason: 'capped' });
    tally.add({ kind: 'unchanged', window });
    tally.add({ kind: 'waiting', windows: 2, owner: 'x' });
    tally.add({ kind: 'stream-stopped', stream: 'events', reason: 'gone' });
    expect(tally.counts).toEqual({
      windowsDue: 3,
      windowsComplete: 1,
      windowsFailed: 1,
      windowsSplit: 1,
      windowsUnchanged: 1,
      pages: 2,
      records: 53,
      bytes: 740,
    });
    expect(tally.failures).toEqual([
      { stream: 'events', from: window.from, to: window.to, reason: 'shifted' },
    ]);
    expect(tally.stopped).toEqual([{ stream: 'events', reason: 'gone' }]);
  });
});
