/** Whether the database holds exactly what the API sent: compared record by record, as the text of `jsonb`. */
import { expect } from 'vitest';
import type { TestDatabase } from './database.ts';
import type { Scene } from './scene.ts';

/** Days of the source's calendar, both inclusive. */
export interface Days {
  readonly from: string;
  readonly to: string;
}

/** The days from the first to the last, both included. */
export function eachDay({ from, to }: Days): string[] {
  const days: string[] = [];
  for (let at = Date.parse(from); at <= Date.parse(to); at += 86_400_000)
    days.push(new Date(at).toISOString().slice(0, 10));
  return days;
}

const VIEWS = [
  ['events', 'events'],
  ['smart-event', 'smart_events'],
] as const;

/** Expects every record of the days once, nothing else, and every day complete (I4, I5, I6). */
export async function expectExact(
  { api, database }: Pick<Scene, 'api' | 'database'>,
  days: Days,
  streams: readonly string[] = ['events', 'smart-event'],
): Promise<number> {
  let records = 0;
  for (const [resource, view] of VIEWS.filter(([resource]) => streams.includes(resource))) {
    const sent = eachDay(days).flatMap((day) =>
      api.listed({ resource, from: `${day} 00:00:00`, to: `${day} 23:59:59` }),
    );
    const wanted = await sentTexts(database, sent);
    const found = await recordTexts(database, view);
    expect(difference(found, wanted), `${resource}: records that are not the API's`).toEqual([]);
    expect(difference(wanted, found), `${resource}: records that are missing`).toEqual([]);
    records += found.length;
  }
  expect(await incompleteDays({ database }, days, streams)).toEqual([]);
  return records;
}

/** Stream, day and state of what is not complete between the days, a day without a window too. */
async function incompleteDays(
  { database }: Pick<Scene, 'database'>,
  days: Days,
  streams: readonly string[] = ['events', 'smart-event'],
): Promise<{ stream: string; day: string; state: string }[]> {
  return database.query(
    `select s as stream, d::date::text as day, coalesce(c.state, 'no window') as state
       from unnest($1::text[]) as s
      cross join generate_series($2::date::timestamp, $3::date::timestamp, interval '1 day') as d
       left join daywalk.coverage c on c.stream = s and c.day = d::date
      where c.state is distinct from 'complete'
      order by 1, 2`,
    [streams, days.from, days.to],
  );
}

/** Expects of every day that is complete that it holds exactly the API's records, and of every failed one a reason (I4). */
export async function expectNoFalseCompleteness(
  { api, database }: Pick<Scene, 'api' | 'database'>,
  days: Days,
): Promise<{ complete: number; failed: number; waiting: number }> {
  const rows = await database.query<{
    stream: 'events' | 'smart-event';
    day: string;
    state: string;
    last_error: string | null;
  }>(
    'select stream, day::text as day, state, last_error from daywalk.coverage where day between $1 and $2',
    [days.from, days.to],
  );
  for (const { stream, day, state, last_error } of rows) {
    if (state === 'failed') expect(last_error, `${stream} ${day} tells no reason`).toMatch(/\w{3}/);
    if (state !== 'complete') continue;
    const view = stream === 'events' ? 'events' : 'smart_events';
    const sent = api.listed({ resource: stream, from: `${day} 00:00:00`, to: `${day} 23:59:59` });
    const wanted = await sentTexts(database, sent);
    const found = await recordTexts(database, view, day);
    expect({
      stream,
      day,
      missing: difference(wanted, found),
      strange: difference(found, wanted),
    }).toEqual({ stream, day, missing: [], strange: [] });
  }
  const count = (state: string) => rows.filter((row) => row.state === state).length;
  const [complete, failed] = [count('complete'), count('failed')];
  return { complete, failed, waiting: rows.length - complete - failed };
}

/** Raw records as Postgres writes them when they have been `jsonb`. */
export async function sentTexts(database: TestDatabase, raw: readonly string[]): Promise<string[]> {
  const rows = await database.query<{ text: string }>(
    'select r::jsonb::text as text from unnest($1::text[]) as r',
    [raw],
  );
  return rows.map((row) => row.text);
}

/** The records of a view, of one day or of all. */
export async function recordTexts(
  database: TestDatabase,
  view: 'events' | 'smart_events',
  day: string | null = null,
): Promise<string[]> {
  const rows = await database.query<{ text: string }>(
    `select record::text as text from daywalk.${view} where $1::date is null or day = $1::date`,
    [day],
  );
  return rows.map((row) => row.text);
}

/** What of `all` is not in `taken`, each as often as it is more; a few of them, shortened. */
export function difference(all: readonly string[], taken: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const text of taken) left.set(text, (left.get(text) ?? 0) + 1);
  const over = all.filter((text) => {
    const count = left.get(text) ?? 0;
    left.set(text, count - 1);
    return count <= 0;
  });
  const shown = over.slice(0, 3).map((text) => text.slice(0, 120));
  return over.length > 3 ? [...shown, `… ${over.length} in all`] : shown;
}
