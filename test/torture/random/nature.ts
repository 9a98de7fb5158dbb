/** What a random server is like, drawn from a seed: the seed says the class, and chance the rest. */
import { Dice, mix } from '../../../simulator/random.ts';
import { type EmptyAnswer, ENVELOPES, type EnvelopeName } from '../envelopes.ts';

/** What a server has beside the ordinary; `mixed` has some of everything. */
export const CLASSES = [
  'quiet',
  'round',
  'page',
  'moving',
  'ties',
  'replica',
  'lag',
  'empties',
  'partial',
  'outage',
  'mixed',
] as const;
export type ServerClass = (typeof CLASSES)[number];

/** Classes whose every answer is a function of the request and of one version of the records, but for the order of ties. */
export const CONSISTENT: ReadonlySet<ServerClass> = new Set([
  'quiet',
  'round',
  'page',
  'moving',
  'ties',
]);

export type Rounding = 'floor' | 'nearest' | 'out' | 'in' | 'day';

/** From which request to which something lasts, and for how many seconds at most. */
export interface Spell {
  readonly first: number;
  readonly last: number;
  readonly seconds: number;
}

export type OutageAnswer = 'empty' | 'strange' | 'error' | 429 | 500 | 'html' | 'cut';

export interface Nature {
  readonly seed: number;
  readonly class: ServerClass;
  readonly envelope: EnvelopeName;
  readonly total:
    | 'exact'
    | 'text'
    | 'none'
    | 'capped'
    | 'lower bound'
    | 'running'
    | 'running, one more'
    | 'rows'
    | 'cached'
    | 'first page';
  /** Where totals are capped or lower bounds. */
  readonly totalLimit: number;
  readonly totalSeconds: number;
  readonly maxLength: { readonly limit: number; readonly answer: 'clamp' | 400 | 500 } | null;
  /** Share of the records that fill a page by themselves, as pages hold so many bytes. */
  readonly large: number;
  readonly deep: { readonly limit: number; readonly answer: 'empty' | 400 | 500 } | null;
  readonly newestFirst: boolean;
  /** Records of one stretch of time trade places in this share of the answers. */
  readonly ties: { readonly share: number; readonly ms: number } | null;
  readonly fromIncluded: boolean;
  readonly toIncluded: boolean;
  /** Compares fractions of a second, too. */
  readonly fractions: boolean;
  readonly padSeconds: number;
  readonly rounding: { readonly how: Rounding; readonly seconds: number } | null;
  readonly byNumber: boolean;
  /** A window of fewer seconds is refused by 400. */
  readonly shortest: number;
  readonly volatile: 'row' | 'score' | 'age' | null;
  readonly ids: boolean;
  /** The setting that says where the identity is, is set. */
  readonly idPath: boolean;
  /** Share of the records that have a rule level. */
  readonly levels: number;
  readonly replica: {
    readonly share: number;
    readonly by: 'request' | 'connection' | 'address';
  } | null;
  /** Share of records that the second replica lacks. */
  readonly lacking: number;
  /** A replica that is behind for the first requests. */
  readonly behind: { readonly share: number; readonly requests: number } | null;
  readonly behindShare: number;
  readonly empties: { readonly share: number; readonly total: 'zero' | 'right' } | null;
  /** One shard of five is down. */
  readonly partial: (Spell & { readonly marked: boolean; readonly shard: number }) | null;
  readonly outage: (Spell & { readonly answer: OutageAnswer }) | null;
  readonly emptyAnswer: EmptyAnswer;
  /** Share of the requests that meet a 429, a 5xx, HTML, a cut body or a reset. */
  readonly weather: number;
  readonly gzip: boolean;
  readonly chunked: boolean;
  /** Whole answers are cached for so long. */
  readonly cacheSeconds: number;
  readonly changes: { readonly during: number; readonly later: number };
  readonly size: number;
  readonly bursts: 'none' | 'mix' | 'minute' | 'second' | 'half';
  readonly pageLength: number;
  readonly concurrency: number;
  readonly kills: number;
  readonly connectionCut: boolean;
}

/** The seeds take the classes in turn. */
export const classOf = (seed: number): ServerClass => CLASSES[seed % CLASSES.length] as ServerClass;

/** Draws a server. */
export function natureOf(seed: number): Nature {
  const dice = new Dice(mix(17, seed));
  const pick = <Choice>(...choices: readonly Choice[]): Choice => dice.pick(choices);
  const often = (share: number): boolean => dice.next() < share;
  const from = (least: number, most: number): number => least + dice.below(most - least + 1);
  const kind = classOf(seed);
  const has = (other: ServerClass): boolean => kind === other || (kind === 'mixed' && often(0.3));
  const spell = (latest: number, longest: number, ...seconds: readonly number[]): Spell => {
    const first = from(1, latest);
    return { first, last: first + from(3, longest), seconds: dice.pick(seconds) };
  };

  const envelope = pick(...ENVELOPES);
  const total =
    envelope === 'array'
      ? 'none'
      : pick(
          ...(['exact', 'exact', 'exact', 'exact', 'text', 'none', 'none', 'capped'] as const),
          ...(['lower bound', 'running', 'running, one more', 'cached'] as const),
          ...(['first page', 'rows'] as const),
        );
  const totalLimit = pick(20, 50, 100, 37, 73);
  const lengths = pick('none', 'clamp', 'clamp', 'refuse');
  const deepness = pick('none', 'none', 'none', 'refuse', 'empty', 'empty');
  const deepLimit = pick(20, 50, 100, 37, 73, 131);
  const deep: Nature['deep'] =
    total === 'capped'
      ? { limit: totalLimit, answer: 'empty' }
      : deepness === 'none'
        ? null
        : { limit: deepLimit, answer: deepness === 'empty' ? 'empty' : pick(400, 500) };
  const lengthLimit = pick(7, 10, 25, 40);
  const rounds = has('round');
  const pads = rounds && often(0.35);
  const rounding = pick<Rounding>('floor', 'nearest', 'out', 'in', 'day');
  const changing = has('moving');
  const ids = often(0.4);
  const nature: Omit<Nature, 'large'> = {
    seed,
    class: kind,
    envelope,
    total,
    totalLimit,
    totalSeconds: pick(60, 600, 7_200, 1e9),
    maxLength:
      lengths === 'none'
        ? null
        : {
            // A clamp above the cap would hide the cap from everybody.
            limit: Math.min(lengthLimit, lengths === 'clamp' && deep !== null ? 7 : lengthLimit),
            answer: lengths === 'clamp' ? 'clamp' : pick(400, 500),
          },
    deep,
    newestFirst: often(0.5),
    ties: has('ties')
      ? { share: pick(1, 1, 0.3), ms: pick(1_000, 1_000, 60_000, 3_600_000, 1e12) }
      : null,
    fromIncluded: often(0.7),
    toIncluded: often(0.7),
    fractions: often(0.5),
    padSeconds: pads ? pick(1, 2, 30, 60) : 0,
    rounding: rounds && !pads ? { how: rounding, seconds: pick(60, 60, 60, 10, 30) } : null,
    byNumber: has('page'),
    shortest: often(0.08) ? 60 : 0,
    volatile: often(0.15) ? pick('row', 'score', 'age') : null,
    ids,
    idPath: ids && often(0.5),
    levels: often(0.5) ? pick(1, 0.9) : 0,
    replica: has('replica')
      ? {
          share: pick(0.05, 0.2, 0.5, 0.5, 0.8, 0.95),
          by: pick('request', 'request', 'connection', 'address'),
        }
      : null,
    lacking: 0.005 + dice.next() * 0.015,
    behind: has('lag') ? { share: pick(0.3, 0.5, 1), requests: from(5, 120) } : null,
    behindShare: pick(0.02, 0.1, 0.5),
    empties: has('empties') ? { share: pick(0.01, 0.05, 0.2), total: pick('zero', 'right') } : null,
    partial: has('partial')
      ? { ...spell(80, 200, 2_000, 5_000, 90_000), marked: often(0.4), shard: dice.below(5) }
      : null,
    outage: has('outage')
      ? {
          ...spell(60, 100, 2_000, 5_000),
          answer: pick<OutageAnswer>('empty', 'empty', 'strange', 'error', 429, 500, 'html', 'cut'),
        }
      : null,
    emptyAnswer: often(0.6) ? 'same' : pick('null', 'absent', '204', 'message', '404'),
    weather: often(0.25) ? pick(0.01, 0.03, 0.06) : 0,
    gzip: often(0.5),
    chunked: often(0.5),
    cacheSeconds: often(0.06) ? pick(60, 600, 7_200) : 0,
    changes: {
      during: changing ? from(1, 6) : 0,
      later: changing ? from(0, 3) : often(0.2) ? from(1, 3) : 0,
    },
    size: pick(0, 1, 3, 8, 20, 45, 70, 110),
    bursts: pick('none', 'none', 'mix', 'mix', 'minute', 'second', 'half'),
    pageLength: pick(20, 30, 50),
    concurrency: pick(1, 1, 3),
    kills: often(0.3) ? from(1, 3) : 0,
    connectionCut: often(0.2),
  };
  // Drawn last, so that seeds from before mean the servers that they meant. Pages by number would lose what has no room in them, and of
  // an order by chance, or of two replicas, nobody could put such pages together.
  const isSteady = ['quiet', 'round', 'moving'].includes(kind);
  const large = isSteady && often(0.15) ? pick(0.02, 0.05, 0.2) : 0;
  return { ...nature, large };
}
