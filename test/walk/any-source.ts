/** Sources as fast-check imagines them: a list, the habits of its server, what happens to it meanwhile, and when the process dies. */
import fc from 'fast-check';
import { RequestError, UnavailableError } from '../../src/errors.ts';
import { type Habits, ImaginedSource, listOf, type Totals } from './imagined-source.ts';

/** Holes in what a walk can know, each left out; switch one on to see what it costs. */
export const HOLES = {
  /** Without totals, records are deleted during the walk. */
  deletedWithoutTotals: false,
  /** A probe may come short, as any page. */
  shortProbes: false,
  /** Every request sees another order. */
  shuffled: true,
  /** The same with equal records: two walks may miss the same one by chance, and pages may seem to follow each other. */
  shuffledTwins: false,
};

/** Questions for totals and known answers ask for fewer records than this, or one more. */
const LONGEST_QUESTION = 4;

/** Without totals a result cap is found where it is larger than this; no source caps at so few records. */
const LEAST_CAP = 10;

interface Happening {
  readonly request: number;
  readonly kind: 'arrival' | 'deletion' | 'away' | 'refusal' | 'login page';
  /** Where in the list, from 0 to 1. */
  readonly place: number;
}

/** One imagined case. */
export interface Imagined {
  readonly ids: readonly number[];
  readonly totals: Totals;
  readonly clamp: number | undefined;
  /** Which answers come short; empty: none. */
  readonly short: readonly boolean[];
  readonly pageLength: number;
  /** Windows of more records are split before they are walked. */
  readonly windowRecords: number;
  readonly happenings: readonly Happening[];
  /** Steps at which one process after the other is killed. */
  readonly kills: readonly number[];
  readonly shuffled: boolean;
  readonly hidden: number | undefined;
}

const happening = (kinds: readonly Happening['kind'][]) =>
  fc.record({
    request: fc.integer({ min: 1, max: 14 }),
    kind: fc.constantFrom(...kinds),
    place: fc.double({ min: 0, max: 1, noNaN: true }),
  });

const ids = fc.oneof(
  fc
    .integer({ min: 0, max: 26 })
    .map((count) => Array.from({ length: count }, (_, index) => index)),
  fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 14 }),
);

const totals = fc.constantFrom<Totals>('none', 'none', 'exact', 'exact', 'page', 'beyond', 'bound');

/** Any case that lies in no open hole. */
export const imagined: fc.Arbitrary<Imagined> = fc
  .record({
    ids,
    totals,
    clamp: fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined }),
    short: fc.oneof(fc.constant([]), fc.array(fc.boolean(), { minLength: 1, maxLength: 5 })),
    pageLength: fc.integer({ min: 1, max: 8 }),
    windowRecords: fc.oneof(fc.constant(1_000), fc.integer({ min: 4, max: 12 })),
    happenings: fc.array(
      happening(['arrival', 'arrival', 'deletion', 'away', 'refusal', 'login page']),
      { maxLength: 3 },
    ),
    kills: fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 3 }),
    shuffled: HOLES.shuffled ? fc.boolean() : fc.constant(false),
    hidden: fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined, freq: 4 }),
  })
  .map((drawn) => {
    const told = drawn.totals === 'exact';
    const deletes = told || HOLES.deletedWithoutTotals;
    // A deletion and an arrival that leave the total as it was are seen by no walk, whatever the totals.
    const arrives = drawn.happenings.some(({ kind }) => kind === 'arrival');
    const twins = !drawn.shuffled || HOLES.shuffledTwins;
    return {
      ...drawn,
      ids: twins ? drawn.ids : drawn.ids.map((_, index) => index),
      happenings: drawn.happenings.filter(
        ({ kind }) => kind !== 'deletion' || (deletes && !arrives),
      ),
      // A total that is too small and met exactly where a page comes short is a lie that nothing contradicts.
      short: drawn.totals === 'bound' ? [] : drawn.short,
      hidden: hiddenOf(drawn.totals, drawn.hidden),
    };
  });

/**
 * Where results end, or undefined. Not with a total that is the page's own count: it would be larger than the page that
 * is cut, which no total of a page is.
 */
function hiddenOf(kind: Totals, hidden: number | undefined): number | undefined {
  if (hidden === undefined || kind === 'page') return undefined;
  return kind === 'exact' ? hidden : hidden + LEAST_CAP;
}

/** Whether nothing stands in the way of a complete window, once all has happened. */
export function isHonest(drawn: Imagined): boolean {
  return (
    drawn.totals !== 'beyond' &&
    !drawn.shuffled &&
    !equalOnSinglePages(drawn) &&
    (drawn.hidden === undefined || drawn.hidden >= drawn.ids.length + 3)
  );
}

/** Equal records on pages of one record cannot be told from a list that moves: there are no other page boundaries. */
function equalOnSinglePages({ ids: list, clamp, short, pageLength }: Imagined): boolean {
  const most = Math.min(pageLength, clamp ?? pageLength);
  const single = most === 1 || (most <= 3 && short.includes(true));
  return single && new Set(list).size < list.length;
}

/** The source of a case: one day with its list. */
export function sourceOf(drawn: Imagined, day: string): ImaginedSource {
  const { ids: list, totals: kind, clamp, short, happenings, shuffled, hidden, pageLength } = drawn;
  let arrived = 1000;
  const habits: Habits = {
    totals: kind,
    ...(clamp === undefined ? {} : { clamp }),
    shorten: (room, number) =>
      short.length > 0 && short[number % short.length] && (HOLES.shortProbes || room > 2)
        ? room - 1
        : room,
    arrange: (whole, number) => (shuffled ? shuffle(whole, number) : whole),
    before: (source, request, number) => {
      // What comes into a part that is proven already comes too late for it, and what comes when a short question asks for
      // a total or a known answer, too late for the day; a look finds it.
      const wholeDay = request.to.endsWith('23:59:59') && request.from.endsWith('00:00:00');
      const whole = wholeDay && request.length >= Math.min(pageLength, LONGEST_QUESTION);
      const current = source.lists.get(listOf(request)) ?? [];
      for (const { kind: what, place } of happenings.filter((each) => each.request === number)) {
        if (!whole && (what === 'arrival' || what === 'deletion')) continue;
        const at = Math.round(place * current.length);
        if (what === 'arrival')
          source.lists.set(listOf(request), current.toSpliced(at, 0, recordOf(arrived++)));
        if (what === 'deletion') source.lists.set(listOf(request), current.toSpliced(at, 1));
        if (what === 'away') throw new UnavailableError('api', 'the API is away');
        if (what === 'refusal') throw new RequestError(400, 'the API refused this request');
      }
    },
    wrap: (page, total, request) => {
      if (
        happenings.some(
          ({ kind: what, request: number }) =>
            what === 'login page' && number === source.asked.length,
        )
      )
        return '<html>log in</html>';
      const shown =
        hidden === undefined ? page : page.slice(0, Math.max(0, hidden - request.start));
      return `{${total === null ? '' : `"total":${total},`}"data":[${shown.join(',')}]}`;
    },
  };
  const source = new ImaginedSource({ [day]: list.map(recordOf) }, habits);
  return source;
}

const recordOf = (id: number): string => `{"id": ${id}}`;

/** Another order for every number, the same for the same one. */
export function shuffle(list: readonly string[], number: number): string[] {
  const keyed = list.map((record, index) => ({
    record,
    key: Math.sin((index + 1) * (number + 1) * 12.9898),
  }));
  return keyed.sort((a, b) => a.key - b.key).map(({ record }) => record);
}
