/** Which records a random server lists for a request, and which total it tells: the same for the same request, but for what its nature leaves to chance. */
import { Dice, mix, mixFraction, seedNumber } from '../../../simulator/random.ts';
import type { Nature, Rounding } from './nature.ts';
import type { Held, World } from './world.ts';

/** What is asked. */
export interface Asked {
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
  readonly start: number;
  readonly length: number;
  readonly levels: { readonly from: number; readonly to: number } | null;
  /** Connections are numbered from 1. */
  readonly connection: number;
  /** The query as it came. */
  readonly address: string;
  /** Number of the request. */
  readonly number: number;
  /** Number of the request among those with the same address. */
  readonly time: number;
}

/** What is answered: a page, or a refusal. */
export type Listed =
  | { readonly rows: readonly Row[]; readonly total: number | null; readonly more: boolean }
  | { readonly refused: 400 | 500; readonly why: string };

/** A record with its offset in the list. */
export interface Row {
  readonly record: Held;
  readonly offset: number;
}

const SECOND_MS = 1_000;
const DAY_SECONDS = 86_400;
/** A replica that is behind has caught up by then, however few requests came. */
const LONGEST_LAG_SECONDS = 90_000;

/** The lists of one server. */
export class Lists {
  readonly #nature: Nature;
  readonly #world: World;
  readonly #totals = new Map<string, { readonly at: number; readonly total: number }>();

  constructor(nature: Nature, world: World) {
    this.#nature = nature;
    this.#world = world;
  }

  list(asked: Asked): Listed {
    const { maxLength, deep, byNumber, shortest, newestFirst } = this.#nature;
    if ((asked.to - asked.from) / SECOND_MS + 1 < shortest)
      return { refused: 400, why: 'the range is shorter than a minute' };
    const clamped = maxLength?.answer === 'clamp';
    if (maxLength !== null && !clamped && asked.length > maxLength.limit)
      return { refused: maxLength.answer as 400 | 500, why: 'length is too large' };
    const length = clamped ? Math.min(asked.length, maxLength.limit) : asked.length;
    const start = byNumber ? Math.floor(asked.start / asked.length) * length : asked.start;
    if (deep !== null && deep.answer !== 'empty' && start + length > deep.limit)
      return { refused: deep.answer, why: 'the result window is too large' };
    const dice = new Dice(mix(this.#nature.seed, seedNumber(asked.address), asked.time));
    const all = this.#shuffled(this.#matching(asked, dice), dice);
    if (newestFirst) all.reverse();
    // Who lists no more than so many says nothing of the others.
    const listed = Math.min(all.length, deep?.answer === 'empty' ? deep.limit : Infinity);
    const end = Math.min(start + length, listed);
    const rows = this.#withRoom(all.slice(start, end)).map(
      (record, index): Row => ({ record, offset: start + index }),
    );
    const total = this.#total(asked, start, rows.length, all.length);
    const more = start + rows.length < listed;
    const { empties } = this.#nature;
    if (empties !== null && dice.next() < empties.share)
      return empties.total === 'zero'
        ? { rows: [], total: total === null ? null : 0, more: false }
        : { rows: [], total, more };
    return { rows, total, more };
  }

  #matching(asked: Asked, dice: Dice): Held[] {
    const { replica, behind, partial } = this.#nature;
    const second = replica !== null && this.#chanceOf(replica.by, asked, dice) < replica.share;
    const isBehind =
      behind !== null &&
      asked.number < behind.requests &&
      this.#world.seconds < LONGEST_LAG_SECONDS &&
      dice.next() < behind.share;
    const down = partial !== null && !partial.marked && lasts(partial, asked, this.#world);
    const { levels } = asked;
    const [from, to] = edgesOf(this.#nature, asked.from, asked.to);
    return this.#world.records.filter(
      ({ time, lacking, late, shard, level }) =>
        time >= from &&
        time <= to &&
        !(second && lacking) &&
        !(isBehind && late) &&
        !(down && shard === partial.shard) &&
        (levels === null || (level !== null && level >= levels.from && level <= levels.to)),
    );
  }

  /** The records up to the first large one, which fills a page by itself. */
  #withRoom(records: readonly Held[]): readonly Held[] {
    const { seed, large } = this.#nature;
    const first = records.findIndex(({ serial }) => mixFraction(seed, serial, 7) < large);
    return first === -1 ? records : records.slice(0, Math.max(1, first));
  }

  #chanceOf(by: 'request' | 'connection' | 'address', asked: Asked, dice: Dice): number {
    const { seed } = this.#nature;
    if (by === 'connection') return mixFraction(seed, asked.connection);
    return by === 'address' ? mixFraction(seed, seedNumber(asked.address)) : dice.next();
  }

  #shuffled(records: Held[], dice: Dice): Held[] {
    const { ties } = this.#nature;
    if (ties === null || dice.next() >= ties.share) return records;
    const stretch = (index: number) => Math.floor((records[index]?.time ?? NaN) / ties.ms);
    for (let first = 0; first < records.length; ) {
      let end = first;
      while (end < records.length && stretch(end) === stretch(first)) end++;
      dice.shuffle(records, first, end);
      first = end;
    }
    return records;
  }

  #total(asked: Asked, start: number, rows: number, real: number): number | null {
    const { total, totalLimit } = this.#nature;
    switch (total) {
      case 'none':
        return null;
      case 'exact':
      case 'text':
        return real;
      case 'capped':
      case 'lower bound':
        return Math.min(real, totalLimit);
      case 'running':
        return start + rows;
      case 'running, one more':
        return start + rows + (start + rows < real ? 1 : 0);
      case 'rows':
        return rows;
      case 'first page':
        return start === 0 ? real : null;
      case 'cached':
        return this.#cached(asked, real);
    }
  }

  #cached({ from, to, levels }: Asked, real: number): number {
    const key = JSON.stringify([from, to, levels]);
    const known = this.#totals.get(key);
    if (known !== undefined && this.#world.seconds - known.at < this.#nature.totalSeconds)
      return known.total;
    this.#totals.set(key, { at: this.#world.seconds, total: real });
    return real;
  }
}

/** Whether a spell lasts: by requests, and by time at most. */
export function lasts(
  spell: { readonly first: number; readonly last: number; readonly seconds: number },
  { number }: Pick<Asked, 'number'>,
  world: World,
): boolean {
  return number >= spell.first && number < spell.last && world.seconds < spell.seconds;
}

/** First and last millisecond of what is shown for a window. */
export function edgesOf(nature: Nature, from: number, to: number): readonly [number, number] {
  const { rounding, padSeconds, fractions, fromIncluded, toIncluded } = nature;
  if (rounding?.how === 'day') {
    const dayMs = DAY_SECONDS * SECOND_MS;
    return [Math.floor(from / dayMs) * dayMs, (Math.floor(to / dayMs) + 1) * dayMs - 1];
  }
  const rounded = (time: number, isTo: boolean) =>
    rounding === null ? time : round(time, rounding.how, rounding.seconds * SECOND_MS, isTo);
  const first = rounded(from, false) - padSeconds * SECOND_MS;
  const last = rounded(to, true) + padSeconds * SECOND_MS;
  const step = fractions ? 1 : SECOND_MS;
  return [
    fromIncluded ? first : first + step,
    (toIncluded ? last : last - step) + (fractions ? 0 : SECOND_MS - 1),
  ];
}

function round(time: number, how: Rounding, unit: number, isTo: boolean): number {
  const up = how === 'out' ? isTo : how === 'in' ? !isTo : false;
  if (how === 'nearest') return Math.round(time / unit) * unit;
  return (up ? Math.ceil(time / unit) : Math.floor(time / unit)) * unit;
}
