/** A source that lives on between runs: events that come, come late, are edited, deleted and forgotten, behind habits that change. */
import { RefusedError, RequestError, UnavailableError } from '../../../src/errors.ts';
import type { PageRequest } from '../../../src/model.ts';
import { dice } from '../../support/dice.ts';
import { ImaginedSource, secondsOf } from '../imagined-source.ts';

export const DAY_S = 86_400;

/** What ranges show of what stands at their ends. */
export type Edges = 'seconds' | 'fractions' | 'exclusive' | 'padded';

export interface Habits {
  readonly totals: boolean;
  readonly edges: Edges;
  /** Minutes to which the ends of ranges are rounded inwards; 0: none. */
  readonly rounded: number;
  /** Hours by which its dates are ahead: what it files under another date is shown only to ranges that have that date. */
  readonly dates: number;
  /** The deepest record that is shown: behind it requests are refused. */
  readonly deepest: number;
  readonly newestFirst: boolean;
  /** The most records of a page. */
  readonly clamp: number;
}

export const PLAIN: Habits = {
  totals: false,
  edges: 'seconds',
  rounded: 0,
  dates: 0,
  deepest: Number.POSITIVE_INFINITY,
  newestFirst: false,
  clamp: 1_000,
};

/** An event. */
export interface Event {
  readonly id: number;
  /** Seconds since the beginning of day 0, with fractions. */
  readonly at: number;
  /** In days since then: from when on it is shown. */
  readonly arrives: number;
  readonly level: number;
  version: number;
  deleted: boolean;
  /** The newest walk when it last became what it is now; what a later walk lacks of it is lacking. */
  since: number;
  /** Whether it was shown when that was last looked at. */
  was: boolean;
}

export type Outage = 'none' | 'away' | 'refused' | 'narrowed' | 'empty';

export class World {
  readonly events: Event[] = [];
  habits: Habits = PLAIN;
  /** Whole days for which events are kept. */
  keeps = Number.POSITIVE_INFINITY;
  outage: Outage = 'none';
  now: number;
  /** The names of its days, from day 0 on. */
  readonly days: readonly string[];
  readonly source: ImaginedSource;
  readonly #first: number;
  readonly #random: () => number;

  constructor(days: readonly string[], now: number, seed: number) {
    this.days = days;
    this.now = now;
    this.#random = dice(seed);
    this.#first = secondsOf(`${days[0]} 00:00:00`);
    this.source = new LivingSource(this);
    for (let day = 0; day < days.length; day += 1) {
      const size = this.#pick([0, 0, 1, 2, 5, 9, 12, 12, 14, 25]);
      for (let number = 0; number < size; number += 1) this.happen(day, 0);
    }
  }

  #pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.#random() * list.length)] as T;
  }

  /** One more event of a day; `late`: it arrives now, if its moment is over. */
  happen(day: number, late: number): void {
    const random = this.#random();
    const second = this.#pick([
      ...[86_399.7, 86_399, 0, 0.3, 86_370 + random * 29, random * 50],
      ...Array.from({ length: 12 }, () => random * DAY_S),
    ]);
    const at = Math.round((day * DAY_S + second) * 10) / 10;
    this.events.push({
      ...{
        id: (day + 1) * 1_000 + this.events.filter((e) => Math.floor(e.at / DAY_S) === day).length,
      },
      ...{ at, arrives: Math.max(at / DAY_S, late), level: Math.floor(this.#random() * 17) },
      ...{ version: 1, deleted: false, since: Number.POSITIVE_INFINITY, was: false },
    });
  }

  /** Whether hours, or the ends of ranges, are hidden. */
  get hides(): boolean {
    return this.habits.dates !== 0 || this.habits.rounded !== 0;
  }

  /** Some event that was there already, by a number that was drawn. */
  some(number: number): Event | undefined {
    const there = this.events.filter((event) => this.isThere(event));
    return there[number % Math.max(1, there.length)];
  }

  isKept = ({ at }: Event): boolean => Math.floor(this.now) - Math.floor(at / DAY_S) <= this.keeps;

  isThere = (event: Event): boolean =>
    event.arrives <= this.now &&
    !event.deleted &&
    this.isKept(event) &&
    this.outage !== 'empty' &&
    (this.outage !== 'narrowed' || event.id % 3 === 0);

  textOf = ({ id, version, at }: Event): string => `{"id": ${id}, "v": ${version}, "at": ${at}}`;

  /** Notes what is otherwise than when this was last asked, beside the newest walk. */
  note(newestWalk: number, all = false): void {
    for (const event of this.events) {
      const is = this.isThere(event);
      if (is !== event.was || (all && is)) event.since = newestWalk;
      event.was = is;
    }
  }

  within({ from, to, filters }: Pick<PageRequest, 'from' | 'to' | 'filters'>): string[] {
    const { edges, rounded, dates, newestFirst } = this.habits;
    let [first, last] = [this.#secondsOf(from), this.#secondsOf(to)];
    const [low, high] = [Math.floor(first / DAY_S), Math.floor(last / DAY_S)];
    if (rounded > 0) {
      first = Math.ceil(first / (rounded * 60)) * rounded * 60;
      last = Math.floor((last + 1) / (rounded * 60)) * rounded * 60 - 1;
    }
    const lowest = Number(filters.rule_level_from ?? filters.rule_level ?? 0);
    const highest = Number(filters.rule_level_to ?? 99);
    const shown = this.events.filter((event) => {
      if (!this.isThere(event) || event.level < lowest || event.level > highest) return false;
      const second = edges === 'seconds' || rounded > 0 ? Math.floor(event.at) : event.at;
      const date = Math.floor((event.at + dates * 3_600) / DAY_S);
      if (dates !== 0 && (date < low || date > high)) return false;
      if (edges === 'exclusive') return second > first && second < last;
      const pad = edges === 'padded' ? 30 : 0;
      return second >= first - pad && second <= last + pad;
    });
    shown.sort((a, b) => a.at - b.at || a.id - b.id);
    if (newestFirst) shown.reverse();
    return shown.map(this.textOf);
  }

  fail({ start }: PageRequest): void {
    if (this.outage === 'away') throw new UnavailableError('api', 'away');
    if (this.outage === 'refused') throw new RefusedError(401, 'the key has expired');
    if (start >= this.habits.deepest) throw new RequestError(400, 'too deep');
  }

  #secondsOf = (time: string) => secondsOf(time) - this.#first;
}

class LivingSource extends ImaginedSource {
  readonly #world: World;
  constructor(world: World) {
    super({}, { before: (_, request) => world.fail(request) });
    this.#world = world;
  }
  override within(asked: Pick<PageRequest, 'from' | 'to' | 'filters'>): string[] {
    return this.#world.within(asked);
  }
  override answer(request: PageRequest): string {
    const list = this.within(request);
    const { totals, deepest } = this.#world.habits;
    // What dates hide shows only where a page holds more than what stands at a midnight itself.
    const clamp = this.#world.hides ? 30 : this.#world.habits.clamp;
    const end = Math.min(request.start + Math.min(request.length, clamp), deepest);
    const total = totals ? `"total":${list.length},` : '';
    return `{${total}"data":[${list.slice(request.start, end).join(',')}]}`;
  }
}
