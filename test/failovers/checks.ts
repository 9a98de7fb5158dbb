/** What must hold after a failover: exact, kept, told, and nothing stuck. */
import { expect } from 'vitest';
import { audit } from '../support/audit.ts';
import type { TestDatabase } from '../support/database.ts';
import { type Days, difference, eachDay, sentTexts } from '../support/multiset.ts';
import type { Scene } from '../support/scene.ts';

/** What a database has that a failover may take away. */
export interface Held {
  /** Day and record of everything that is shown. */
  readonly shown: readonly { readonly day: string; readonly text: string }[];
  readonly publications: readonly Publication[];
  /** Each stored page by day, place, content and time. */
  readonly pages: readonly string[];
}

interface Publication {
  readonly stream: string;
  readonly day: string;
  readonly key: string;
}

/** What was acknowledged, and was not in the database after the failover. */
export interface Lost {
  readonly pagesLost: number;
  readonly publicationsLost: number;
}

/** What the database has now. */
export async function readHeld({ query }: TestDatabase): Promise<Held> {
  const [shown, publications, pages] = await Promise.all([
    query<{ day: string; text: string }>(
      `select day::text as day, record::text as text from daywalk.events
        union all
       select day::text, record::text from daywalk.smart_events`,
    ),
    query<{ stream: string; day: string; key: string }>(
      'select stream, day::text as day, key from daywalk.feed',
    ),
    query<{ page: string }>(
      `select concat_ws(' ', day, walk_id, page_no, encode(sha256, 'hex'), fetched_at) as page from daywalk.pages`,
    ),
  ]);
  return { shown, publications, pages: pages.map(({ page }) => page) };
}

/** Expects that each record of the source is shown as present, once, and nothing else (I4, I6). Returns how many. */
export async function expectExactNow({ api, database }: Scene, days: Days): Promise<number> {
  let records = 0;
  for (const resource of ['events', 'smart-event'] as const) {
    const sent = eachDay(days).flatMap((day) =>
      api.listed({ resource, from: `${day} 00:00:00`, to: `${day} 23:59:59` }),
    );
    const wanted = await sentTexts(database, sent);
    const rows = await database.query<{ text: string }>(
      `select record::text as text from daywalk.events_now where resource = $1 and day between $2 and $3`,
      [resource, days.from, days.to],
    );
    const found = rows.map(({ text }) => text);
    expect(difference(found, wanted), `${resource}: not of the source`).toEqual([]);
    expect(difference(wanted, found), `${resource}: missing`).toEqual([]);
    records += found.length;
  }
  return records;
}

/** Expects that what was shown is shown still, but for days up to one that was pruned (I6). */
export function expectKept(before: Held, after: Held, pruned: string | null): void {
  const texts = ({ shown }: Held) =>
    shown
      .filter(({ day }) => pruned === null || day > pruned)
      .map(({ day, text }) => `${day} ${text}`);
  expect(difference(texts(before), texts(after)), 'shown before and not any more').toEqual([]);
}

/** Expects a new publication of each day of which one was lost: another key tells whoever has a copy. Returns what was lost. */
export function expectTold(before: Held, after: Held, pruned: string | null): Lost {
  const known = new Set(before.publications.map(({ key }) => key));
  const stay = new Set(after.publications.map(({ key }) => key));
  const lost = before.publications.filter(({ key }) => !stay.has(key));
  const anew = after.publications.filter(({ key }) => !known.has(key));
  for (const { stream, day } of lost)
    expect(
      anew.some((one) => one.stream === stream && one.day === day),
      `a publication of ${stream} ${day} was lost, and the day not published again`,
    ).toBe(true);
  const pages = new Set(after.pages);
  const lives = (page: string) =>
    pages.has(page) || (pruned !== null && page.slice(0, pruned.length) <= pruned);
  return {
    pagesLost: before.pages.filter((page) => !lives(page)).length,
    publicationsLost: lost.length,
  };
}

/** Expects every day complete, every window closed, no lease held, tables and ledger in step, every invariant kept. */
export async function expectNothingStuck(database: TestDatabase, days: Days): Promise<void> {
  const { query } = database;
  const found = {
    leases: await query('select * from daywalk.windows where lease_id is not null'),
    windows: await query(
      `select * from daywalk.windows where state <> 'complete' and state <> 'replaced' and day between $1 and $2`,
      [days.from, days.to],
    ),
    walks: await query('select * from daywalk.walks where outcome is null'),
    days: await query(
      `select stream, day, state from daywalk.coverage where state <> 'complete' and day between $1 and $2`,
      [days.from, days.to],
    ),
    tables: await query(`select * from daywalk.tables where behind <> 0`),
    ledger: await query('select * from daywalk.ledger_check where not ok'),
    audit: await audit(database),
  };
  for (const [what, rows] of Object.entries(found))
    expect(rows, `${what}: ${JSON.stringify(rows)}`).toEqual([]);
}

/** How each window stands, a line each: for whoever looks why something is stuck. */
export async function readWindows({ query }: TestDatabase): Promise<string> {
  const rows = await query<{ line: string }>(
    `select concat_ws(' ', window_id, s.name, kind, w.from_time, w.to_time, state, 'split', coalesce(split_by, 'no'), 'of', coalesce(split_from, 0),
                      'due', coalesce(due_at::text, 'never'), 'proven', proven_at, 'walk', current_walk, 'lease', lease_expires, last_error) as line
       from daywalk.windows w join daywalk.streams s using (stream_id) order by s.name, w.from_time, window_id`,
  );
  return rows.map(({ line }) => line).join('\n');
}
