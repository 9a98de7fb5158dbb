/** The records of a random server: three exported days and a neighbour on either side, and what becomes of them in time. */
import { Dice, mix } from '../../../simulator/random.ts';
import type { Nature } from './nature.ts';

export const FIRST_DAY = '2026-02-28';
export const LAST_DAY = '2026-03-02';
export const DAYS = ['2026-02-28', '2026-03-01', '2026-03-02'] as const;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const QUARTER_MS = 250;
const QUARTERS = DAY_MS / QUARTER_MS;
const BEGIN_MS = Date.parse(`${FIRST_DAY}T00:00:00Z`);
/** A request takes so long, in the server's time. */
const REQUEST_SECONDS = 0.3;
/** What changes during the first walks has changed by then, however few requests came. */
const DURING_SECONDS = 3_000;
const LATER_SECONDS = 2.6 * 86_400;
/** Rarely is a record the twin of another: the same content at the same time. */
const TWINS = 0.03;

/** A record as the server holds it. */
export interface Held {
  readonly serial: number;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** Names the content: two records with the same one are the same but for what is volatile. */
  readonly content: string;
  readonly level: number | null;
  readonly shard: number;
  /** The second replica never gets it. */
  readonly lacking: boolean;
  /** The replica that is behind does not have it yet. */
  readonly late: boolean;
  /** Seconds of the server's time at which it was edited into this. */
  readonly editedAt: number | null;
}

interface Change {
  readonly kind: 'insert' | 'delete' | 'edit';
  readonly atRequest: number;
  readonly atSecond: number;
  readonly chance: number;
}

/** A change that has happened. */
export interface Happened {
  readonly kind: Change['kind'];
  /** Of the record. */
  readonly time: number;
  readonly second: number;
  readonly content: string;
}

export const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** The records, now; they change as requests come and time passes. */
export class World {
  records: readonly Held[];
  /** How many copies of a content there ever were at once. */
  readonly ever = new Map<string, number>();
  readonly happened: Happened[] = [];
  requests = 0;
  readonly #nature: Nature;
  readonly #dice: Dice;
  #seconds = 0;
  #serial = 0;
  #changes: Change[];

  constructor(nature: Nature) {
    this.#nature = nature;
    this.#dice = new Dice(mix(23, nature.seed));
    const records: Held[] = [];
    for (let day = -1; day <= DAYS.length; day++)
      for (let left = this.#countOf(day); left > 0; left--) {
        const record = this.#make(this.#timeIn(day));
        records.push(record);
        if (this.#dice.next() < TWINS) records.push(this.#twin(record));
      }
    this.records = records.sort(inOrder);
    this.#changes = this.#drawChanges();
    this.#note();
  }

  /** Seconds since the world began, in the server's time. */
  get seconds(): number {
    return this.#seconds;
  }

  pass(seconds: number): void {
    this.#seconds += seconds;
  }

  /** A request has come. Returns its number, from 1. */
  count(): number {
    this.requests += 1;
    this.pass(REQUEST_SECONDS);
    const due = this.#changes.filter(
      (change) => this.requests >= change.atRequest || this.#seconds >= change.atSecond,
    );
    if (due.length > 0) {
      this.#changes = this.#changes.filter((change) => !due.includes(change));
      for (const change of due) this.#apply(change);
      this.#note();
    }
    return this.requests;
  }

  #countOf(day: number): number {
    const { size, deep } = this.#nature;
    if (day < 0 || day >= DAYS.length) return Math.min(size, 10);
    // A day may end exactly at the cap.
    if (deep !== null && this.#dice.next() < 0.15) return deep.limit - 1 + this.#dice.below(3);
    return this.#dice.next() < 0.12 ? 0 : Math.round(size * (0.6 + 0.8 * this.#dice.next()));
  }

  /** Often near midnight, else as the bursts have it. */
  #timeIn(day: number): number {
    const { bursts } = this.#nature;
    const below = (limit: number) => this.#dice.below(limit);
    const begin = BEGIN_MS + day * DAY_MS;
    const at = (quarter: number) => begin + quarter * QUARTER_MS;
    const chance = this.#dice.next();
    if (chance < 0.08) return at(below(13));
    if (chance < 0.16) return at(QUARTERS - 1 - below(13));
    if (chance < 0.2)
      return this.#dice.next() < 0.5 ? at(below(481)) : at(QUARTERS - 1 - below(481));
    const middle = 160_000 + Math.abs(day) * 31_108;
    const spread = () => at(below(QUARTERS));
    switch (bursts) {
      case 'none':
        return spread();
      case 'half':
        return at(below(QUARTERS / 2));
      case 'minute':
        return at(middle + below(240));
      case 'second':
        return this.#dice.next() < 0.6 ? at(middle + below(4)) : spread();
      case 'mix':
        return this.#dice.next() < 0.5 ? spread() : at(middle + below(6) * 3_600 + below(8));
    }
  }

  #make(time: number): Held {
    const { levels, ids, lacking, behindShare } = this.#nature;
    const serial = this.#serial++;
    return {
      serial,
      time,
      content: ids ? `r${serial}i${serial}` : `r${serial}`,
      level: this.#dice.next() < levels ? this.#dice.below(16) : null,
      shard: serial % 5,
      lacking: this.#dice.next() < lacking,
      late: this.#dice.next() < behindShare,
      editedAt: null,
    };
  }

  #twin(record: Held): Held {
    const serial = this.#serial++;
    const content = this.#nature.ids ? `r${record.serial}i${serial}` : record.content;
    return { ...record, serial, shard: serial % 5, content };
  }

  #drawChanges(): Change[] {
    const { during, later } = this.#nature.changes;
    const kinds = ['insert', 'insert', 'delete', 'edit'] as const;
    const draw = (count: number, when: () => Pick<Change, 'atRequest' | 'atSecond'>): Change[] =>
      Array.from({ length: count }, () => ({
        kind: this.#dice.pick(kinds),
        ...when(),
        chance: this.#dice.next(),
      }));
    return [
      ...draw(during, () => ({ atRequest: 1 + this.#dice.below(90), atSecond: DURING_SECONDS })),
      ...draw(later, () => ({
        atRequest: Infinity,
        atSecond: 60 + this.#dice.below(LATER_SECONDS),
      })),
    ];
  }

  #apply({ kind, chance }: Change): void {
    if (kind === 'insert') {
      const made = this.#make(this.#timeIn(Math.floor(chance * DAYS.length)));
      this.records = [...this.records, made].sort(inOrder);
      this.#tell(kind, made);
      return;
    }
    const mine = this.records.filter(
      ({ time }) => time >= BEGIN_MS && time < BEGIN_MS + DAYS.length * DAY_MS,
    );
    const chosen = mine[Math.floor(chance * mine.length)];
    if (chosen === undefined) return;
    this.#tell(kind, chosen);
    if (kind === 'delete') {
      this.records = this.records.filter((record) => record !== chosen);
      return;
    }
    const edited: Held = {
      ...chosen,
      content: `${chosen.content}e${this.requests}`,
      editedAt: this.#seconds,
    };
    this.records = this.records.map((record) => (record === chosen ? edited : record));
  }

  #tell(kind: Change['kind'], { time, content }: Held): void {
    this.happened.push({ kind, time, second: this.#seconds, content });
  }

  #note(): void {
    for (const [content, count] of countsOf(this.records.map((record) => record.content)))
      this.ever.set(content, Math.max(count, this.ever.get(content) ?? 0));
  }
}

const inOrder = (one: Held, other: Held): number =>
  one.time - other.time || one.serial - other.serial;

/** A multiset. */
export function countsOf(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
