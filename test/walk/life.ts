/** Lives of a stream in true time, told in days and their fractions, behind a source that shows each event as long as a rule says. */
import { expect } from 'vitest';
import { RefusedError, RequestError, UnavailableError } from '../../src/errors.ts';
import type { PageRequest } from '../../src/model.ts';
import type { TestDatabase } from '../support/database.ts';
import { letTimePass } from '../support/pass-time.ts';
import { records } from '../support/store.ts';
import { accept, closedDays, newStream, readResults, runOnce, SETTLE_MS } from './exporting.ts';
import { type Habits, ImaginedSource, secondOf } from './imagined-source.ts';

const DAY_MS = 86_400_000;
export const AWAY = new UnavailableError('api', 'away');
export const REFUSED = new RefusedError(401, 'the key has expired');

/** An event. */
export interface Happening {
  /** The number of its day, from 0 on. */
  readonly day: number;
  /** Its own, in its day. */
  readonly number: number;
  /** When it happened: 2.5 is noon of day 2. */
  readonly at: number;
}

export interface World {
  /** Days that come to be closed. */
  readonly count: number;
  /** When runs take place: one at 3.1 is the first that finds day 2 closed. */
  readonly runs: readonly number[];
  /** Whether an event is shown at a time. */
  readonly shows: (now: number, event: Happening) => boolean;
  /** Records of the day of this number; 12 otherwise. */
  readonly sizeOf?: ((day: number) => number) | undefined;
  /** Asked before each answer: what the API fails with, asked for that day. */
  readonly fails?: ((now: number, day: number, request: PageRequest) => Error | null) | undefined;
  readonly totals?: Habits['totals'] | undefined;
  /** How the source serves its lists besides. */
  readonly habits?: Omit<Habits, 'totals' | 'before'> | undefined;
  readonly recheckDays?: number | undefined;
  /** What identifies its records, if that is known. */
  readonly idPath?: readonly string[] | undefined;
  /** `daywalk accept` after the run at this time. */
  readonly acceptedAt?: number | undefined;
  /** Done after each run. */
  readonly after?: ((now: number, stream: string) => Promise<void>) | undefined;
}

/** A run behind each midnight. */
export const onceADay = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index + 0.02);

/** A run behind each midnight, and one two hours later. */
export const everyDay = (from: number, to: number): number[] =>
  onceADay(from, to).flatMap((run) => [run, run + 2 / 24]);

/** @returns how each day ended: its state, and how many of its records are shown; and the numbers of the days that lost records. */
export async function live(server: TestDatabase, world: World) {
  const { count, sizeOf = () => 12, totals = 'none', recheckDays = 3, idPath } = world;
  const days = closedDays(count);
  const all = days.flatMap((_, day) =>
    records(1_000 * (day + 1), sizeOf(day)).map((record, number) => ({
      record,
      event: { day, number, at: day + secondOf(record) / 86_400 },
    })),
  );
  let now = world.runs[0] ?? 0;
  const source = new ImaginedSource(Object.fromEntries(days.map((day) => [day, []])), {
    totals,
    ...world.habits,
    before: (_, request) => {
      const error = world.fails?.(now, days.indexOf(request.from.slice(0, 10)), request);
      if (error) throw error;
      if (request.start >= 100) throw new RequestError(400, 'too deep');
    },
  });
  const stream = newStream(idPath === undefined ? {} : { idPath });
  const exporting = { server, source, stream, since: days[0] ?? '', recheckDays };
  for (const time of world.runs) {
    const passed = Math.round((time - now) * DAY_MS);
    await letTimePass(server, `${passed} milliseconds`);
    now = time;
    const shown = all.filter(({ event }) => event.at <= now && world.shows(now, event));
    for (const [day, name] of days.entries()) {
      const list = shown.filter(({ event }) => event.day === day).map(({ record }) => record);
      source.lists.set(`${name} 00:00:00`, list);
    }
    const settleMs = SETTLE_MS + (count - Math.floor(now)) * DAY_MS;
    const run = runOnce({ ...exporting, pageLength: 30, windowRecords: 60, settleMs });
    await run.catch((error: unknown) => expect([AWAY, REFUSED]).toContain(error));
    if (now === world.acceptedAt) await accept(server, stream);
    await world.after?.(now, stream.name);
  }
  const results = [...(await readResults(server, stream)).values()];
  const lost = await server.query<{ day: string }>(
    'select day::text from daywalk.days where lost > 0 order by day',
  );
  return {
    ends: results.map(({ state, published }) => `${state} ${published.length}`),
    lost: lost.map(({ day }) => days.indexOf(day)),
  };
}
