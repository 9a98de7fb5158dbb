/** Ten years of complete days of a site, one event each: at its API, and in the database as an export leaves them. */
import { fingerprint } from '../../src/store/streams.ts';
import type { TestDatabase } from '../support/database.ts';
import type { Site } from './sites.ts';

/**
 * Writes them, up to the day before `until`. The tables are left to the first run; the cut at the end of the
 * last day is asked for as soon as there is a day behind it.
 */
export async function seedTenYears(
  { query }: TestDatabase,
  { name, timeZone, api }: Site,
  { since, until }: { readonly since: string; readonly until: string },
): Promise<void> {
  const texts = daysBefore(since, until).map((day) =>
    JSON.stringify({ timestamp: `${day}T12:00:00.000Z`, site: name, rule: { id: '1' } }),
  );
  api.insert(texts);
  await query(
    `insert into daywalk.streams (name, resource, filters, fingerprint, since, time_zone, settle)
     values ($1, 'events', '{}', $2, $3, $4, '0')`,
    [name, fingerprint({ name, resource: 'events', filters: {} }), since, timeZone],
  );
  await query(
    `create table simulated.seeded as
     select s.stream_id, (r ->> 'timestamp')::date as day, jsonb_build_object('data', jsonb_build_array(r)) as body
       from daywalk.streams s, unnest($2::jsonb[]) as r where s.name = $1`,
    [name, texts],
  );
  for (const statement of STATEMENTS) await query(statement);
  // The last day lacks the cut at its end. Not all at once: versions of rows are not cleared away before a statement has ended.
  for (let first = 0; first < texts.length - 1; first += 100)
    await query(
      `select daywalk.append_to_ledger(s.stream_id, $2::date + n)
         from daywalk.streams s, generate_series($3::integer, $4::integer) as n where s.name = $1`,
      [name, since, first, Math.min(first + 99, texts.length - 2)],
    );
}

function daysBefore(since: string, until: string): string[] {
  const days: string[] = [];
  for (let at = Date.parse(since); at < Date.parse(until); at += 86_400_000)
    days.push(new Date(at).toISOString().slice(0, 10));
  return days;
}

const STATEMENTS = [
  `select daywalk.ensure_partition(month::date)
     from (select distinct date_trunc('month', d) as month from simulated.seeded, lateral (values (day), (day - 1)) as v (d)) as months`,
  `insert into daywalk.windows (stream_id, kind, day, from_time, to_time, purpose, state, due_at, proof, proven_at)
   select stream_id, kind, d, d + after, d + before, 'scheduled', 'complete', null, proof::jsonb, (day + 2)::timestamptz
     from simulated.seeded
    cross join lateral (values ('day', day, interval '0', interval '23:59:59', '{"kind": "total", "rule": "C3", "records": 1, "why": "seeded", "total": 1}'),
                               ('cut', day - 1, '23:59:59', '1 day', '{"kind": "cut", "rule": "C8", "records": 0, "removed": 0, "why": "seeded"}'))
            as w (kind, d, after, before, proof)`,
  `insert into daywalk.walks (window_id, number, day, from_time, to_time, page_length, records_path, total_path, next_start, pages, bytes, requests,
                              first_total, last_total, outcome, proof, shown, started_at, finished_at)
   select w.window_id, 1, w.day, w.from_time, w.to_time, 10, '{data}', '{recordsFiltered}', 1, 1, length(s.body::text), 1,
          1, 1, 'proven', w.proof, 'whole', w.proven_at, w.proven_at
     from simulated.seeded s join daywalk.windows w using (stream_id, day) where w.kind = 'day'`,
  `update daywalk.windows w set judged = 1, proof = w.proof || jsonb_build_object('walk', k.walk_id)
     from simulated.seeded s, daywalk.walks k
    where s.stream_id = w.stream_id and s.day = w.day and k.window_id = w.window_id`,
  `insert into daywalk.pages (walk_id, page_no, day, start, length, records, total, body, record_hashes, sha256, byte_count, fetched_at, duration_ms)
   select k.walk_id, 0, k.day, 0, 10, 1, 1, s.body, daywalk.hashes_of(s.body -> 'data', '{}'), sha256(s.body::text::bytea), k.bytes, k.finished_at, 1
     from simulated.seeded s join daywalk.windows w using (stream_id, day) join daywalk.walks k using (window_id)
    where w.kind = 'day'`,
  'select daywalk.note_day(stream_id, day, (day + 2)::timestamptz, 0, 0) from (select * from simulated.seeded order by day) as s',
  'drop table simulated.seeded',
  'analyze',
];
