/** Judges an export of a random server, day by day, as one who knows the server. */
import type { TrialDatabase } from '../trial.ts';
import { edgesOf } from './listing.ts';
import type { Nature } from './nature.ts';
import { unprovable } from './provable.ts';
import { countsOf, DAYS, dayOf, type Held, type World } from './world.ts';

/** What became of a day that is complete or not. */
export type Verdict =
  /** Complete, and what the server holds, or has held and shows no more. */
  | 'exact'
  /** Complete, and not so. */
  | 'false'
  /** Complete; what differs is an edit behind the last look that could see it, or a deletion and an insertion between two looks. */
  | 'unseen'
  /** Not complete, though it could have been. */
  | 'failed'
  /** Not complete, and cannot be. */
  | 'unprovable';

export interface JudgedDay {
  readonly day: string;
  readonly records: number;
  readonly verdict: Verdict;
  /** Complete and wrong after an earlier pass. */
  readonly healed: boolean;
  /** What is wrong, or why it is not complete. */
  readonly detail: string;
}

/** Near a midnight a record may be shown with the other day. */
const NEAR_MS = 600_000;
const DAY_MS = 86_400_000;
const SECOND_MS = 1_000;

interface Wrong {
  readonly missing: Held[];
  readonly edited: Held[];
  readonly extra: Held[];
}

/** Looks after every pass, and judges at the end. */
export class Judge {
  readonly #nature: Nature;
  readonly #world: World;
  readonly #query: TrialDatabase['query'];
  readonly #wasWrong = new Set<string>();
  readonly #lost: string[] = [];
  #shown = new Map<string, number>();
  #states = new Map<string, DayState>();
  /** Seconds at which the passes ended that had walked a day, or looked at it. */
  readonly #ends = new Map<string, number[]>(DAYS.map((day) => [day, []]));

  constructor(nature: Nature, world: World, query: TrialDatabase['query']) {
    this.#nature = nature;
    this.#world = world;
    this.#query = query;
  }

  /** What was shown once and is not any more. */
  get lost(): readonly string[] {
    return this.#lost;
  }

  /** After a pass. */
  async look(): Promise<void> {
    const before = this.#shown;
    const kept = await this.#versions();
    this.#shown = await this.#readShown();
    const earlier = this.#states;
    this.#states = await this.#readStates();
    for (const [content, count] of before) {
      const now = (this.#shown.get(content) ?? 0) + (kept.get(content) ?? 0);
      const truly = Math.min(count, this.#world.ever.get(content) ?? 0);
      if (now < truly) this.#lost.push(`${content}: ${truly} before, ${now} now`);
    }
    for (const day of DAYS)
      if (this.#states.get(day)?.asked !== earlier.get(day)?.asked)
        this.#ends.get(day)?.push(this.#world.seconds);
    for (const day of DAYS)
      if (this.#isComplete(day) && this.#unseenOf(day, this.#wrongOf(day)) === 'wrong')
        this.#wasWrong.add(day);
  }

  /** The verdicts, as of the last look. */
  judge(): JudgedDay[] {
    return DAYS.map((day): JudgedDay => {
      const records = this.#world.records.filter(({ time }) => dayOf(time) === day).length;
      const state = this.#states.get(day);
      const shared = { day, records, healed: false };
      if (!this.#isComplete(day)) {
        const reason = unprovable(this.#nature, this.#world, day);
        const why = `${state?.state ?? 'no window'}: ${state?.why ?? ''}`;
        return reason === null
          ? { ...shared, verdict: 'failed', detail: why }
          : { ...shared, verdict: 'unprovable', detail: `${reason}; ${why}` };
      }
      const wrong = this.#wrongOf(day);
      const seen = this.#unseenOf(day, wrong);
      const detail = seen === 'right' ? '' : tell(wrong);
      if (seen === 'wrong') return { ...shared, verdict: 'false', detail };
      const healed = this.#wasWrong.has(day);
      return { ...shared, healed, verdict: seen === 'right' ? 'exact' : 'unseen', detail };
    });
  }

  #isComplete(day: string): boolean {
    return this.#states.get(day)?.state === 'complete';
  }

  #wrongOf(day: string): Wrong {
    const begin = Date.parse(`${day}T00:00:00Z`);
    const neighbour = (by: number) => dayOf(begin + by * DAY_MS);
    // What a source shows with both days is taken away once both are complete.
    const loose = this.#nature.rounding !== null || this.#nature.padSeconds > 0;
    const early = loose && !this.#isComplete(neighbour(-1));
    const late = loose && !this.#isComplete(neighbour(1));
    const held = countsOf(this.#world.records.map(({ content }) => content));
    const wrong: Wrong = { missing: [], edited: [], extra: [] };
    const done = new Set<string>();
    for (const record of this.#world.records) {
      const { time, content, editedAt } = record;
      const offset = time - begin;
      if (offset < 0 || offset >= DAY_MS || done.has(content)) continue;
      if ((early && offset < NEAR_MS) || (late && offset >= DAY_MS - NEAR_MS)) continue;
      done.add(content);
      const shown = this.#shown.get(content) ?? 0;
      if (shown < (held.get(content) ?? 0))
        (editedAt === null ? wrong.missing : wrong.edited).push(record);
      if (shown > (this.#world.ever.get(content) ?? 0)) wrong.extra.push(record);
    }
    return wrong;
  }

  /** Nobody sees an edit in the middle, nor insertions that as many deletions make up for between two looks. */
  #unseenOf(day: string, { missing, edited, extra }: Wrong): 'right' | 'unseen' | 'wrong' {
    if (missing.length === 0 && extra.length === 0) return edited.length === 0 ? 'right' : 'unseen';
    const hidden = this.#balanced(day);
    return extra.length === 0 && missing.every(({ content }) => hidden.has(content))
      ? 'unseen'
      : 'wrong';
  }

  /**
   * What was inserted while as much was deleted of what the window of the day shows, between a moment of one pass that asked for
   * the day and the end of that pass or the next one that did.
   */
  #balanced(day: string): ReadonlySet<string> {
    const hidden = new Set<string>();
    const from = Date.parse(`${day}T00:00:00Z`);
    const [first, last] = edgesOf(this.#nature, from, from + DAY_MS - SECOND_MS);
    const ends = [...(this.#ends.get(day) ?? []), this.#world.seconds];
    for (const [index, end] of ends.entries()) {
      const begin = ends[index - 2] ?? 0;
      const changes = this.#world.happened.filter(
        ({ time, second }) => time >= first && time <= last && second > begin && second <= end,
      );
      for (const since of changes.keys()) {
        const later = changes.slice(since);
        const inserted = later.filter(({ kind }) => kind === 'insert');
        if (inserted.length === later.filter(({ kind }) => kind === 'delete').length)
          for (const { content } of inserted) hidden.add(content);
      }
    }
    return hidden;
  }

  async #readShown(): Promise<Map<string, number>> {
    return countsIn(await this.#query<Counted>(`${CONTENTS} from daywalk.events group by 1`));
  }

  /** Older versions of edited records, where the store knows such. */
  async #versions(): Promise<Map<string, number>> {
    const [row] = await this.#query<{ there: boolean }>(
      `select to_regclass('daywalk.record_versions') is not null as there`,
    );
    return row?.there
      ? countsIn(await this.#query<Counted>(`${CONTENTS} from daywalk.record_versions group by 1`))
      : new Map();
  }

  async #readStates(): Promise<Map<string, DayState>> {
    const rows = await this.#query<DayState & { day: string }>(
      `select day::text as day, state, coalesce(last_error, '') as why, (
         select max(greatest(looked_at, proven_at))::text from daywalk.windows w where w.day = c.day and w.kind <> 'cut'
       ) as asked
       from daywalk.coverage c where day between $1 and $2`,
      [DAYS[0], DAYS.at(-1)],
    );
    return new Map(rows.map(({ day, ...state }) => [day, state]));
  }
}

/** How a day stands. */
interface DayState extends Record<string, unknown> {
  readonly state: string;
  readonly why: string;
  /** When it was last walked or looked at with success. */
  readonly asked: string | null;
}

interface Counted extends Record<string, unknown> {
  readonly content: string;
  readonly count: number;
}

const CONTENTS = `select coalesce(record ->> 'c', record -> '_source' ->> 'c') as content, count(*)::integer as count`;

const countsIn = (rows: readonly Counted[]): Map<string, number> =>
  new Map(rows.map(({ content, count }) => [content, count]));

function tell({ missing, edited, extra }: Wrong): string {
  const place = ({ content, time }: Held) =>
    `${content} at ${new Date(time).toISOString().slice(11, 23)}`;
  const some = (what: string, records: readonly Held[]) =>
    records.length === 0
      ? []
      : [`${records.length} ${what} (${records.slice(0, 3).map(place).join(', ')})`];
  return [...some('missing', missing), ...some('edited', edited), ...some('too many', extra)].join(
    ', ',
  );
}
