/** Many complete days, made by SQL as an export leaves them: windows, cuts, walks, pages, seals and ledger. */
import { fingerprint } from '../src/store/streams.ts';
import type { Scratch } from './databases.ts';

/** The streams of {@link seedCompleteDays}, as `daywalk.yaml` defines them. */
export function streamsYaml(names: readonly string[]): string {
  return `streams:\n${names.map((name) => `  ${name}:\n    resource: events\n`).join('')}`;
}

/** Days of the last `years` years, up to the newest one that is closed, each with a page of ten records in every stream. */
export async function seedCompleteDays(
  { query }: Scratch,
  years: number,
  streams: number,
): Promise<string[]> {
  const names = Array.from({ length: streams }, (_, index) => `stream-${index}`);
  await query(
    `insert into daywalk.streams (name, resource, filters, fingerprint, since, time_zone, settle)
     select name, 'events', '{}', print, ((clock_timestamp() - interval '1 hour') at time zone 'UTC')::date - $3::integer, 'UTC', interval '1 hour'
       from unnest($1::text[], $2::text[]) as s (name, print)`,
    [
      names,
      names.map((name) => fingerprint({ name, resource: 'events', filters: {} })),
      Math.round(years * 365.25),
    ],
  );
  for (const statement of STATEMENTS) await query(statement);
  return names;
}

const STATEMENTS = [
  `select daywalk.ensure_partition(month::date)
     from (select distinct date_trunc('month', d) as month
             from daywalk.streams s, generate_series(s.since::timestamp, now()::timestamp, interval '1 day') d) as months`,
  `insert into daywalk.windows (stream_id, kind, day, from_time, to_time, purpose, state, due_at, proof, proven_at, looked_at)
   select s.stream_id, w.kind, d::date, d + w.after, d + w.before, 'look', 'complete',
          case when daywalk.next_look(daywalk.closed_at(d::date, s.time_zone, s.settle), 7) is not null then clock_timestamp() + interval '12 hours' end,
          '{"kind": "total", "records": 10}', clock_timestamp(), clock_timestamp()
     from daywalk.streams s
    cross join generate_series(s.since::timestamp - interval '1 day', (((clock_timestamp() - s.settle) at time zone 'UTC')::date - 1)::timestamp, interval '1 day') d
    cross join (values ('day', interval '0', interval '23:59:59'), ('cut', interval '23:59:59', interval '1 day')) as w (kind, after, before)
    where w.kind = 'cut' or d >= s.since`,
  `insert into daywalk.walks (window_id, number, role, day, from_time, to_time, page_length, records_path, total_path, next_start, pages, bytes, requests,
                              first_total, last_total, outcome, proof, shown, finished_at)
   select w.window_id, 1, case w.kind when 'day' then 'whole' else 'across' end, w.day, w.from_time, w.to_time, 1000, '{data}', '{total}', r.records, 1, 7000, 1, r.records, r.records, 'proven',
          jsonb_build_object('kind', 'total', 'records', r.records), case w.kind when 'day' then 'whole' else 'no' end, clock_timestamp()
     from daywalk.windows w cross join lateral (select case w.kind when 'day' then 10 else 0 end as records) as r
    order by w.day, w.window_id`,
  `insert into daywalk.pages (walk_id, page_no, day, start, length, records, total, body, record_hashes, sha256, byte_count, fetched_at, duration_ms)
   select k.walk_id, 0, k.day, 0, 1000, k.records, k.records,
          jsonb_build_object('total', k.records, 'data', (select coalesce(jsonb_agg(jsonb_build_object('sequence', n)), '[]') from generate_series(1, k.records) n)),
          array(select n from generate_series(1, k.records) n), sha256(''), 7000, clock_timestamp(), 5
     from daywalk.walks k`,
  `insert into daywalk.seals (walk_id, page_no, day, body_sha256, digest)
   select walk_id, page_no, day, sha256(''), sha256('') from daywalk.pages`,
  `insert into daywalk.ledger (stream_id, entry, day, revision, walks, pages, records, bytes, pages_sha256, walks_sha256,
                               marks_sha256, appended_at, previous, digest)
   select p.stream_id, row_number() over (partition by p.stream_id order by p.day), p.day, 1, p.walks, 1, 10, 7000,
          sha256(''), sha256(''), daywalk.marks_digest(p.walks), clock_timestamp(), sha256(''), sha256('')
     from daywalk.shown_days p`,
  // As daywalk.note_day notes each of them, but for what streams share, which no question about days reads.
  'analyze',
  `update daywalk.windows w set proof = w.proof || jsonb_build_object('walk', k.walk_id), current_walk = k.walk_id, shown_at = proven_at
     from daywalk.walks k where k.window_id = w.window_id`,
  `insert into daywalk.days (stream_id, day, records, gone, lost, pages, bytes, proof, revision, unsealed)
   select w.stream_id, w.day, c.records, c.gone, c.lost, c.pages, c.bytes, c.proof, 1, false
     from daywalk.windows w cross join lateral daywalk.contents_of(w.stream_id, w.day) as c where w.kind = 'day'`,
  `insert into daywalk.publications (stream_id, seq, key, day, revision, records, appeared, gone, lost, published_at)
   select stream_id, row_number() over (partition by stream_id order by day), publication, day, 1, records, 0, 0, 0, clock_timestamp()
     from daywalk.days`,
  `insert into daywalk.filter_places (stream_id, seq) select stream_id, max(seq) from daywalk.publications group by stream_id`,
  'vacuum analyze',
];
