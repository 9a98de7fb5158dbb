/** Sources of a few days as fast-check imagines them: a habit or two of its server, and what happens to its records or habits meanwhile. */
import fc from 'fast-check';
import { RequestError } from '../../src/errors.ts';
import type { PageRequest } from '../../src/model.ts';
import { addDays } from '../../src/plan/days.ts';
import { dateAt, ImaginedSource, levelOf, secondsOf } from './imagined-source.ts';

const DAY = 86_400;
const HOUR = 3_600;
/** Where edges are padded or rounded, nothing outside the days that are exported stands so near to them. */
const NEAR = 600;
/** What arrives later has ids above this. */
export const LATER = 5_000;

/** How the server treats a request; by the absence of all of it each answer is whole and exact. */
export interface Habit {
  readonly totals: 'exact' | 'none' | 'bound';
  readonly excludesFrom?: boolean;
  readonly excludesTo?: boolean;
  /** Times are compared with their fractions. */
  readonly fractions?: boolean;
  readonly padding?: number;
  readonly rounding?: { readonly seconds: number; readonly inwards: boolean };
  /** Its events are kept by the dates of a clock so many hours ahead. */
  readonly hoursAhead?: number;
  readonly ignoresTime?: boolean;
  /** Where lists end: with nothing, or a refusal. */
  readonly deepest?: { readonly start: number; readonly answer: 'empty' | 'refusal' };
  /** The longest page; more is cut or refused. */
  readonly longest?: { readonly length: number; readonly answer: 'cut' | 'refusal' };
  /** Shorter ranges are refused; seconds. */
  readonly shortest?: number;
  readonly newestFirst?: boolean;
  readonly byNumber?: boolean;
}

/** One event, by the day that it stands in: -1 is the one before the first that is exported. */
interface Event {
  readonly day: number;
  readonly at: number;
  readonly id: number;
  readonly version: number;
}

/** What happens to a source. */
export interface Happening {
  readonly kind: 'arrival' | 'edit' | 'deletion' | 'habit';
  readonly day: number;
  /** Where in the day, from 0 to 1. */
  readonly place: number;
}

export interface World {
  readonly days: number;
  readonly habit: Habit;
  /** What it comes to be. */
  readonly later: Habit;
  /** Seconds of the events of each day, those before and behind the exported ones included. */
  readonly seconds: readonly (readonly number[])[];
}

const quirk: fc.Arbitrary<Partial<Habit>> = fc.oneof(
  { weight: 2, arbitrary: fc.constant({}) },
  fc.record({ excludesFrom: fc.boolean(), excludesTo: fc.boolean(), fractions: fc.boolean() }),
  fc.record({ padding: fc.constantFrom(1, 30, 60) }),
  fc.record({
    rounding: fc.record({ seconds: fc.constantFrom(60, 600, HOUR), inwards: fc.boolean() }),
  }),
  { weight: 3, arbitrary: fc.record({ hoursAhead: fc.constantFrom(5, -5.5, -1) }) },
  fc.constant({ ignoresTime: true }),
  fc.record({
    deepest: fc.record({
      start: fc.constantFrom(11, 13, 20),
      answer: fc.constantFrom('empty', 'refusal'),
    }),
  }),
  fc.record({
    longest: fc.record({
      length: fc.constantFrom(2, 5),
      answer: fc.constantFrom('cut', 'refusal'),
    }),
  }),
  fc.record({ shortest: fc.constantFrom(60, 600) }),
  fc.constant({ newestFirst: true }),
  fc.constant({ byNumber: true }),
) as fc.Arbitrary<Partial<Habit>>;

const totals = fc.constantFrom<Habit['totals']>('exact', 'exact', 'none', 'none', 'bound');
const habit: fc.Arbitrary<Habit> = fc
  .tuple(totals, quirk, fc.oneof({ weight: 2, arbitrary: fc.constant<Partial<Habit>>({}) }, quirk))
  .map(([told, one, other]) => {
    // What dates or rounded ends hide beside a second habit is a matter of its own, whoever asks for it.
    const alone = [one, other].find(({ hoursAhead, rounding }) => hoursAhead ?? rounding);
    return { totals: told, ...(alone ?? { ...one, ...other }) };
  });

/** Anywhere in a day, often beside its midnights. */
const second = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 0, max: DAY - 1 }) },
  fc.integer({ min: 0, max: 130 }),
  fc.integer({ min: DAY - 130, max: DAY - 1 }),
  fc.integer({ min: DAY - 5 * HOUR, max: DAY - 1 }),
  fc.integer({ min: 0, max: 5 * HOUR }),
  fc.constantFrom(DAY - 0.25, DAY - 1, 0),
);
const listOf = fc.oneof(
  { weight: 5, arbitrary: fc.array(second, { maxLength: 9 }) },
  { weight: 3, arbitrary: fc.array(second, { minLength: 10, maxLength: 16 }) },
  fc.array(second, { minLength: 17, maxLength: 30 }),
  fc.constant<number[]>([]),
);

export const world: fc.Arbitrary<World> = fc.integer({ min: 2, max: 4 }).chain((days) =>
  fc
    .record({
      days: fc.constant(days),
      habit,
      later: habit,
      seconds: fc.array(listOf, { minLength: days + 2, maxLength: days + 2 }),
    })
    .map((drawn) => {
      // That the time of day is not heeded is believed for 30 days.
      const later = {
        ...(drawn.habit.ignoresTime ? drawn.habit : drawn.later),
        totals: drawn.habit.totals,
      };
      // Too little beside a midnight tells nobody of the hours that dates hide.
      const isByDates = [drawn.habit, later].some(({ hoursAhead }) => hoursAhead !== undefined);
      const telling = isByDates ? [HOUR / 2 + 7, DAY - HOUR / 2 - 7] : [];
      return { ...drawn, later, seconds: drawn.seconds.map((list) => [...list, ...telling]) };
    }),
);

export const happening: fc.Arbitrary<Happening> = fc.record({
  kind: fc.constantFrom('arrival', 'arrival', 'edit', 'deletion', 'habit'),
  day: fc.nat(3),
  place: fc.integer({ min: 0, max: 99 }).map((percent) => percent / 100),
});

const textOf = ({ id, version }: Event) =>
  version === 0 ? `{"id": ${id}}` : `{"id": ${id}, "edit": ${version}}`;

/** A source that is as a world says, and changes when it is told to. */
export class WorldSource extends ImaginedSource {
  habit: Habit;
  /** Everything that it has ever held, as texts with the days that they stand in. */
  readonly ever = new Map<string, string>();
  readonly #begin: number;
  /** The days that are exported. */
  readonly names: readonly string[];
  readonly #world: World;
  #events: Event[];
  #made = LATER;

  constructor(given: World, names: readonly string[]) {
    super({});
    this.#world = given;
    this.habit = given.habit;
    this.names = names;
    this.#begin = Date.parse(`${names[0]}T00:00:00Z`) / 1_000;
    let id = 1_000;
    const isLoose = [given.habit, given.later].some(isBlurred);
    this.#events = given.seconds.flatMap((list, index) => {
      const day = index - 1;
      const isOutside = day < 0 || day >= given.days;
      return list
        .filter((at) => !isOutside || !isLoose || (at > NEAR && at < DAY - NEAR))
        .map((at) => {
          id += 1;
          return { day, at, id, version: 0 };
        });
    });
    this.#note();
  }

  get isByDates(): boolean {
    const { habit, later } = this.#world;
    return [habit, later].some(({ hoursAhead }) => hoursAhead !== undefined);
  }

  happen({ kind, day: given, place }: Happening): void {
    const day = given % this.#world.days;
    const own = this.#events.filter((event) => event.day === day);
    const chosen = own[Math.min(own.length - 1, Math.floor(place * own.length))];
    if (kind === 'habit') this.habit = this.#world.later;
    this.#made += 1;
    if (kind === 'arrival')
      this.#events.push({ day, at: Math.floor(place * (DAY - 1)), id: this.#made, version: 0 });
    if (kind === 'deletion') this.#events = this.#events.filter((event) => event !== chosen);
    if (kind === 'edit')
      this.#events = this.#events.map((event) =>
        event === chosen ? { ...event, version: this.#made } : event,
      );
    this.#note();
  }

  #note(): void {
    for (const [day, name] of this.names.entries())
      this.lists.set(
        `${name} 00:00:00`,
        this.#events.filter((event) => event.day === day).map(textOf),
      );
    for (const event of this.#events)
      this.ever.set(textOf(event), addDays(this.names[0] as string, event.day));
  }

  override within({ from, to, filters }: Pick<PageRequest, 'from' | 'to' | 'filters'>): string[] {
    const { habit: own } = this;
    const lowest = Number(filters.rule_level_from ?? 0);
    const highest = Number(filters.rule_level_to ?? 99);
    const order = own.newestFirst ? -1 : 1;
    return this.#events
      .map((event) => ({ event, time: this.#begin + event.day * DAY + event.at }))
      .filter(({ time }) => isWithin(own, time, from, to))
      .sort((one, other) => order * (one.time - other.time || one.event.id - other.event.id))
      .map(({ event }) => textOf(event))
      .filter((text) => levelOf(text) >= lowest && levelOf(text) <= highest);
  }

  override answer(request: PageRequest): string {
    const { deepest, longest, shortest = 0, totals: told, byNumber } = this.habit;
    if (secondsOf(request.to) - secondsOf(request.from) + 1 < shortest)
      throw new RequestError(400, 'the range is too short');
    if (longest?.answer === 'refusal' && request.length > longest.length)
      throw new RequestError(400, 'too many are asked for');
    if (deepest?.answer === 'refusal' && request.start >= deepest.start)
      throw new RequestError(400, 'too deep');
    const whole = this.within(request);
    const list = deepest === undefined ? whole : whole.slice(0, deepest.start);
    const length = Math.min(request.length, longest?.length ?? request.length);
    const start = byNumber ? Math.floor(request.start / request.length) * length : request.start;
    const page = list.slice(start, start + length);
    const total =
      told === 'none' ? null : told === 'bound' ? Math.min(whole.length, 12) : whole.length;
    return `{${total === null ? '' : `"total":${total},`}"data":[${page.join(',')}]}`;
  }
}

/** Whether a record that no range of its own date shows may stand with the day beside it. */
export const shifts = (habit: Habit): boolean =>
  isBlurred(habit) ||
  habit.hoursAhead !== undefined ||
  habit.excludesFrom === true ||
  habit.excludesTo === true ||
  habit.fractions === true;

/** Whether every day that its source shows can be proven. Only exact totals prove what a long cut shows where dates hide hours. */
export const isDecent = (habit: Habit): boolean =>
  habit.ignoresTime !== true &&
  habit.deepest === undefined &&
  (habit.hoursAhead === undefined || habit.totals === 'exact') &&
  !isBlurred(habit);

const isBlurred = ({ padding = 0, rounding }: Habit): boolean =>
  padding > 0 || rounding !== undefined;

function isWithin(habit: Habit, time: number, from: string, to: string): boolean {
  const { rounding, padding = 0, hoursAhead = 0 } = habit;
  const [date, lastDate] = [from.slice(0, 10), to.slice(0, 10)];
  if (habit.ignoresTime) {
    const own = dateAt(time);
    return own >= date && own <= lastDate;
  }
  const kept = dateAt(time + hoursAhead * HOUR);
  if (hoursAhead !== 0 && (kept < date || kept > lastDate)) return false;
  const seconds = rounding?.seconds ?? 1;
  const [begin, end] = [secondsOf(from), secondsOf(to)];
  const first = (rounding?.inwards ? Math.ceil : Math.floor)(begin / seconds) * seconds - padding;
  const last =
    (rounding?.inwards
      ? Math.floor((end + 1) / seconds) * seconds - 1
      : Math.ceil((end + 1) / seconds) * seconds - 1) + padding;
  const at = habit.fractions ? time : Math.floor(time);
  return (
    (habit.excludesFrom ? at > first : at >= first) && (habit.excludesTo ? at < last : at <= last)
  );
}
