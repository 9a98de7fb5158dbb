/** Pages ahead: which are asked for, in which order they leave, what throws them away, and how much of the budget they take. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RefusedError, UnavailableError } from '../../src/errors.ts';
import type { Page, PageRequest, Priority } from '../../src/model.ts';
import type { FetchPage } from '../../src/walk/answers.ts';
import { Prefetch, PrefetchBudget } from '../../src/walk/prefetch.ts';
import {
  following,
  nothingObserved,
  PAGES_PER_GUESS,
  skipOf,
  Trust,
  type WalkObserved,
  withPage,
} from '../../src/walk/rules/observed.ts';

const request = (start: number, length = 10): PageRequest => ({
  resource: 'events',
  filters: {},
  from: '2026-03-01 00:00:00',
  to: '2026-03-01 23:59:59',
  start,
  length,
});

/** A walk after its first page. */
const listing = (came: number, total: number | null): WalkObserved =>
  withPage(nothingObserved('offset'), { records: came, skip: 0, total });

/** Requests that are answered when the test says so. */
class Answers {
  readonly asked: number[] = [];
  readonly aborted: number[] = [];
  /** By start; the last one that was asked with. */
  readonly priorities = new Map<number, Priority | undefined>();
  readonly #open = new Map<number, { resolve(page: Page): void; reject(error: Error): void }>();

  readonly fetchPage: FetchPage = (wanted, { signal, priority }) =>
    new Promise((resolve, reject) => {
      this.asked.push(wanted.start);
      this.priorities.set(wanted.start, priority);
      this.#open.set(wanted.start, { resolve, reject });
      signal.addEventListener('abort', () => {
        if (this.#open.delete(wanted.start)) this.aborted.push(wanted.start);
        reject(signal.reason);
      });
    });

  async answer(start: number, bytes = 100): Promise<void> {
    const page = { start, length: 10, body: Buffer.alloc(bytes), sha256: Buffer.alloc(32) };
    this.#open.get(start)?.resolve({ ...page, durationMs: 1, requests: 1 });
    this.#open.delete(start);
    await settled();
  }

  async fail(start: number, error: Error): Promise<void> {
    this.#open.get(start)?.reject(error);
    this.#open.delete(start);
    await settled();
  }
}

/** Lets everything happen that waits for nothing but its turn. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

/** Says which page a walk needs next; those behind it are as long. */
const follow = (walk: Prefetch, observed: WalkObserved, next: PageRequest) =>
  walk.follow(observed, next, () => next.length);

interface Setting {
  readonly pages?: number;
  readonly bytes?: number;
  readonly trust?: Trust;
  readonly signal?: AbortSignal;
}

function setUp({ pages = 2, bytes = 10_000, trust = new Trust(), signal }: Setting = {}) {
  const answers = new Answers();
  const budget = new PrefetchBudget({ pages, bytes });
  const open = () =>
    new Prefetch({
      fetchPage: answers.fetchPage,
      priority: { purpose: 'scheduled' },
      budget,
      trust,
      signal: signal ?? new AbortController().signal,
    });
  return { answers, budget, trust, open, ahead: open() };
}

/** Two walks that share the budget, each after its first page. */
async function twoWalks(setting: Setting) {
  const all = setUp(setting);
  const other = all.open();
  for (const walk of [all.ahead, other]) {
    const first = walk.fetch(request(0));
    await all.answers.answer(0);
    await first;
  }
  return { ...all, other };
}

/** Asks for the first page of a list of 95 records in pages of 10, and stores it: the second page is needed now. */
async function started(setting: Setting = {}) {
  const all = setUp(setting);
  const first = all.ahead.fetch(request(0));
  await all.answers.answer(0);
  await first;
  const observed = listing(10, 95);
  follow(all.ahead, observed, request(9));
  return { ...all, observed, second: all.ahead.fetch(request(9)) };
}

describe('which pages are asked for', () => {
  /** The starts that a walk asks for one after the other, when every page comes as full as it can. */
  function oneByOne(total: number, length: number, clamp: number): number[] {
    const starts: number[] = [];
    let observed = nothingObserved('offset');
    do {
      const skip = skipOf(observed);
      const start = observed.records - skip;
      starts.push(start);
      const came = Math.min(length, clamp, total - start);
      observed = withPage(observed, {
        records: came - skip,
        skip,
        total,
      });
    } while (observed.records < total);
    return starts;
  }

  it('is exactly what a walk without fetching ahead asks for, where the total is exact', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 400 }),
        fc.integer({ min: 2, max: 40 }),
        fc.integer({ min: 1, max: 50 }),
        (total, length, clamp) => {
          const starts = oneByOne(total, length, clamp);
          const came = Math.min(length, clamp, total);
          const most = { certain: 10_000, guessed: 0 };
          const found = following(listing(came, total), length, 1, most);
          // The second page is what the walk needs next.
          expect(found.starts).toEqual(starts.slice(2));
        },
      ),
    );
  });

  it('is none before the first page, and none behind a first page that holds the whole list', () => {
    const most = { certain: 8, guessed: 8 };
    expect(following(nothingObserved('offset'), 10, 0, most).starts).toEqual([]);
    expect(following(listing(10, 10), 10, 1, most).starts).toEqual([]);
    expect(following(listing(10, 19), 10, 1, most).starts).toEqual([]);
    expect(following(listing(10, 20), 10, 1, most).starts).toEqual([18]);
  });

  it('without a total is one for every four full pages in a row, so that an end wastes a quarter at most', () => {
    let observed = listing(10, null);
    for (let pages = 1; pages < 40; pages++) {
      const { starts, certain } = following(observed, 10, pages, { certain: 8, guessed: 8 });
      expect(certain).toBe(false);
      expect(starts.length).toBe(Math.min(8, Math.floor(pages / PAGES_PER_GUESS)));
      expect(starts).toEqual(starts.map((_, index) => observed.records - 1 + (index + 1) * 9));
      observed = withPage(observed, { records: 9, skip: 1, total: null });
    }
    expect(following(observed, 10, 0, { certain: 8, guessed: 8 }).starts).toEqual([]);
  });
});

describe('pages ahead', () => {
  it('are asked for at once, in order, as many as there may be', async () => {
    const { answers, second, ahead, observed } = await started();
    expect(answers.asked).toEqual([0, 9, 18, 27]);
    // In the limiter's line they stand behind what walks need now.
    expect([9, 18].map((start) => answers.priorities.get(start)?.ahead ?? false)).toEqual([
      false,
      true,
    ]);
    await answers.answer(27);
    await answers.answer(9);
    await second;
    expect(answers.asked).toEqual([0, 9, 18, 27]);
    // When the turn of one has come there is room for another.
    follow(ahead, withPage(observed, { records: 9, skip: 1, total: 95 }), request(18));
    const third = ahead.fetch(request(18));
    expect(answers.asked).toEqual([0, 9, 18, 27, 36]);
    await answers.answer(18);
    await third;
    ahead.close();
  });

  it('leave in the order of their starts, in whatever order they came', async () => {
    const { answers, second, ahead, observed } = await started();
    await answers.answer(27);
    await answers.answer(18);
    await answers.answer(9);
    expect((await second).start).toBe(9);
    let now = observed;
    for (const start of [18, 27]) {
      now = withPage(now, { records: 9, skip: 1, total: 95 });
      follow(ahead, now, request(start));
      expect((await ahead.fetch(request(start))).start).toBe(start);
    }
    expect(answers.asked.filter((start) => start === 18 || start === 27)).toEqual([18, 27]);
    ahead.close();
  });

  it('are thrown away after a page that came shorter, and their requests are broken off', async () => {
    const { answers, second, ahead, observed, trust } = await started();
    await answers.answer(18);
    await answers.answer(9);
    await second;
    const short = withPage(observed, {
      records: 4,
      skip: 1,
      total: 95,
    });
    follow(ahead, short, request(13));
    expect(ahead.ahead).toBe(0);
    const third = ahead.fetch(request(13));
    await answers.answer(13);
    expect((await third).start).toBe(13);
    expect(answers.aborted).toEqual(expect.arrayContaining([27]));
    // Nothing more is asked for ahead until pages have come as foretold again.
    expect(trust.pages).toBe(0);
    expect(answers.asked.at(-1)).toBe(13);
    ahead.close();
  });

  it('are thrown away when the walk sees a shift', async () => {
    const { answers, second, ahead, budget } = await started();
    await answers.answer(9);
    await second;
    ahead.drop();
    expect([...answers.aborted].sort()).toEqual([18, 27]);
    expect(budget.bytes).toBe(0);
    ahead.close();
  });

  it('are kept while the page before them is asked for again', async () => {
    const { answers, second, ahead } = await started();
    await answers.answer(18);
    await answers.answer(9);
    await second;
    const again = ahead.fetch(request(9));
    await answers.answer(9);
    expect((await again).start).toBe(9);
    expect(answers.aborted).toEqual([]);
    ahead.close();
  });

  it('whose requests fail hold nothing back, and are asked for again when their turn comes', async () => {
    const { answers, second, ahead, observed } = await started();
    await answers.fail(18, new UnavailableError('api', 'away'));
    const asked = answers.asked.length;
    await answers.answer(27);
    // Nothing further is asked for behind a failure.
    expect(answers.asked.length).toBe(asked);
    await answers.answer(9);
    expect((await second).start).toBe(9);
    const now = withPage(observed, { records: 9, skip: 1, total: 95 });
    follow(ahead, now, request(18));
    const third = ahead.fetch(request(18));
    expect(answers.asked.filter((start) => start === 18)).toHaveLength(2);
    await answers.answer(18);
    expect((await third).start).toBe(18);
    ahead.close();
  });

  it('whose request fails after its turn has come fail the walk', async () => {
    const { answers, second, ahead, observed } = await started();
    await answers.answer(9);
    await second;
    const now = withPage(observed, { records: 9, skip: 1, total: 95 });
    follow(ahead, now, request(18));
    const third = ahead.fetch(request(18));
    expect(answers.priorities.get(18)?.ahead).toBe(false);
    const failed = expect(third).rejects.toThrow('away');
    await answers.fail(18, new UnavailableError('api', 'away'));
    await failed;
    ahead.close();
  });

  it('that are refused are not asked for again when their turn comes', async () => {
    const { answers, second, ahead, observed } = await started();
    await answers.fail(18, new RefusedError(401, 'refused'));
    await answers.answer(9);
    expect((await second).start).toBe(9);
    follow(ahead, withPage(observed, { records: 9, skip: 1, total: 95 }), request(18));
    await expect(ahead.fetch(request(18))).rejects.toThrow('refused');
    expect(answers.asked.filter((start) => start === 18)).toEqual([18]);
    ahead.close();
  });

  it('end with the signal, and so does the page that is needed', async () => {
    const stop = new AbortController();
    const { answers, second, ahead, budget } = await started({ signal: stop.signal });
    const stopped = expect(second).rejects.toThrow('SIGTERM');
    stop.abort(new Error('SIGTERM'));
    await stopped;
    expect([...answers.aborted].sort((a, b) => a - b)).toEqual([9, 18, 27]);
    expect(budget.bytes).toBe(0);
    const asked = answers.asked.length;
    ahead.drop();
    budget.offer();
    expect(answers.asked.length).toBe(asked);
    ahead.close();
  });
});

describe('the budget', () => {
  it('for bytes bounds what is ahead, under way or waiting; the page that is needed always passes', async () => {
    const { answers, second, ahead, budget } = await started({ pages: 8, bytes: 250 });
    // Pages of 100 bytes: two fit.
    expect(answers.asked).toEqual([0, 9, 18, 27]);
    expect(budget.bytes).toBe(200);
    await answers.answer(27, 100);
    await answers.answer(9);
    await second;
    expect(answers.asked).toEqual([0, 9, 18, 27]);
    ahead.close();
    expect(budget.bytes).toBe(0);
  });

  it('of no bytes fetches nothing ahead', async () => {
    const { answers, second, ahead } = await started({ bytes: 0 });
    await answers.answer(9);
    await second;
    expect(answers.asked).toEqual([0, 9]);
    ahead.close();
  });

  it('goes first to the walk that has the fewest pages ahead', async () => {
    const { ahead, other, budget } = await twoWalks({ pages: 4 });
    for (const walk of [ahead, other]) follow(walk, listing(10, 95), request(9));
    budget.offer();
    expect([ahead.ahead, other.ahead]).toEqual([2, 2]);
    ahead.close();
    other.close();
    expect(budget.bytes).toBe(0);
  });

  it('is never overdrawn by requests, and is empty at the end, whatever happens', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 0, max: 900 }),
        fc.array(fc.tuple(fc.nat(3), fc.nat(12)), { maxLength: 40 }),
        async (pages, bytes, deeds) => {
          const { answers, ahead, budget, second } = await started({ pages, bytes });
          second.catch(() => {});
          let underWay = 0;
          for (const [deed, which] of deeds) {
            if (deed === 0) await answers.answer(9 * which, 100);
            if (deed === 1) await answers.fail(9 * which, new UnavailableError('api', 'away'));
            if (deed === 2) ahead.drop();
            if (deed === 3) follow(ahead, listing(10, 95), request(9));
            budget.offer();
            underWay = answers.asked.length - 1;
            expect(budget.bytes).toBeLessThanOrEqual(bytes);
            expect(ahead.ahead).toBeLessThanOrEqual(pages);
          }
          expect(underWay).toBeLessThan(200);
          ahead.close();
          await settled();
          expect(budget.bytes).toBe(0);
        },
      ),
    );
  });
});

describe('trust', () => {
  it('is taken away by one surprise, and earned back by full pages: one page ahead after four, then twice as many each time', () => {
    const trust = new Trust();
    expect(trust.pages).toBeGreaterThan(64);
    trust.surprised();
    const earned: number[] = [];
    for (let page = 0; page < 8; page++) {
      earned.push(trust.pages);
      trust.confirmed();
    }
    expect(earned).toEqual([0, 0, 0, 0, 1, 2, 4, 8]);
  });
});
