/** What the server truly holds, beside what readers see; and what must hold after every case, whatever its outcome. */

import type { Simulator } from '../../simulator/simulator.ts';
import type { Resource } from '../../src/model.ts';
import { addDays } from '../../src/plan/days.ts';

type Query = <Row extends Record<string, unknown>>(
  sql: string,
  values?: readonly unknown[],
) => Promise<Row[]>;

/** How two multisets of records differ. */
export interface Difference {
  readonly missing: number;
  readonly extra: number;
  readonly held: number;
  readonly truth: number;
}

/** A range of days of one stream. */
export interface Range {
  readonly stream: string;
  readonly resource: Resource;
  readonly from: string;
  readonly to: string;
}

/** Texts are sent in portions, since a parameter has a largest size. */
const PORTION_CHARACTERS = 8_000_000;

/**
 * Everything in the days of the range, to their last fraction of a second, as the lists show it; with what stands between the
 * last second before them and the first day.
 */
export function recordsOf(simulator: Simulator, { resource, from, to }: Range): string[] {
  const before = `${addDays(from, -1)} 23:59:59`;
  const next = `${addDays(to, 1)} 00:00:00`;
  const beyond = new Map<string, number>();
  for (const second of [before, next])
    for (const text of simulator.listed({ resource, from: second, to: second }))
      beyond.set(text, (beyond.get(text) ?? 0) + 1);
  const all = simulator.listed({ resource, from: before, to: next });
  return all.reverse().filter((text) => {
    const left = beyond.get(text) ?? 0;
    if (left > 0) beyond.set(text, left - 1);
    return left === 0;
  });
}

/** Keeps the truth as hashes of its `jsonb` texts, under a name. */
async function keepTruth(query: Query, name: string, texts: readonly string[]): Promise<void> {
  await query('create schema if not exists torture');
  await query('create unlogged table if not exists torture.truth (name text, hash uuid)');
  await query('delete from torture.truth where name = $1', [name]);
  let portion: string[] = [];
  let characters = 0;
  const send = async () => {
    await query(
      'insert into torture.truth select $1, md5(r::jsonb::text)::uuid from unnest($2::text[]) as r',
      [name, portion],
    );
    portion = [];
    characters = 0;
  };
  for (const text of texts) {
    portion.push(text);
    characters += text.length;
    if (characters > PORTION_CHARACTERS) await send();
  }
  if (portion.length > 0) await send();
}

const DIFFERENCE = (held: string) => `
  with held as (${held}), one as (select hash, count(*) as n from held group by hash),
       other as (select hash, count(*) as n from torture.truth where name = $1 group by hash)
  select coalesce(sum(greatest(coalesce(other.n, 0) - coalesce(one.n, 0), 0)), 0)::integer as missing,
         coalesce(sum(greatest(coalesce(one.n, 0) - coalesce(other.n, 0), 0)), 0)::integer as extra,
         coalesce(sum(one.n), 0)::integer as held, coalesce(sum(other.n), 0)::integer as truth
    from one full join other using (hash)`;

/** What the source shows of the range as far as readers can see, beside the truth. */
export async function compareRange(
  query: Query,
  range: Range,
  truth: readonly string[],
  volatile: readonly string[] = [],
): Promise<Difference> {
  await keepTruth(query, 'range', truth);
  const [row] = await query<Difference & Record<string, unknown>>(
    DIFFERENCE(
      `select md5((record - $5::text[])::text)::uuid as hash
         from daywalk.events_now where stream = $2 and day between $3 and $4`,
    ),
    ['range', range.stream, range.from, range.to, volatile],
  );
  if (row === undefined) throw new Error('a count returned no row');
  return row;
}

/** The hard rule, day by day: a day that is called complete holds every record that the server holds for it. */
export async function completeWithHoles(
  query: Query,
  simulator: Simulator,
  range: Range,
  stored: (text: string) => string,
  volatile: readonly string[] = [],
): Promise<string[]> {
  const days = await query<{ day: string }>(
    `select day::text as day from daywalk.coverage where stream = $1 and state = 'complete' and day between $2 and $3`,
    [range.stream, range.from, range.to],
  );
  const problems: string[] = [];
  for (const { day } of days) {
    const one = { ...range, from: day, to: day };
    const { missing } = await compareRange(
      query,
      one,
      recordsOf(simulator, one).map(stored),
      volatile,
    );
    if (missing > 0) problems.push(`${day} is complete and lacks ${missing} records`);
  }
  return problems;
}

/**
 * What was shown before and is not any more, nor is an older version of what is (I6): there must be none. What is shown now is kept for the next time. Copies
 * are not counted: one that two days show is hidden in one of them by the cut between them.
 */
export async function noLongerShown(query: Query): Promise<string[]> {
  await query('create schema if not exists torture');
  await query('create unlogged table if not exists torture.shown (hash uuid)');
  const rows = await query<{ problem: string }>(
    `select format('%s records that were shown are shown no more', count(*)) as problem
       from torture.shown
      where hash not in (select md5(record::text)::uuid from daywalk.shown_records
                          union all select md5(record::text)::uuid from daywalk.record_versions)
     having count(*) > 0`,
  );
  await query('truncate torture.shown');
  await query(
    'insert into torture.shown select distinct md5(record::text)::uuid from daywalk.shown_records',
  );
  return rows.map((row) => row.problem);
}

/** What no fault may break: the chain of pages (I3, I1), proofs (I4), sums, reasons, and leases given back. */
export async function brokenInvariants(query: Query): Promise<string[]> {
  const rows = await query<{ problem: string }>(
    `select format('walk %s: the chain of its pages is broken', k.walk_id) as problem
       from daywalk.walks k
      cross join lateral (
        select count(*) as pages, coalesce(sum(p.records), 0) as records,
               coalesce(bool_and(p.start + p.skip = p.expected and p.page_no = p.place), true) as unbroken
          from (select page_no, start, skip, records,
                       coalesce(sum(records) over (order by page_no rows between unbounded preceding and 1 preceding), 0) as expected,
                       row_number() over (order by page_no) - 1 as place
                  from daywalk.pages where walk_id = k.walk_id) as p) as chain
      where not chain.unbroken or chain.pages <> k.pages or chain.records <> k.next_start
      union all
     select format('walk %s is proven for %s records and holds %s', walk_id, proof ->> 'records', records)
       from daywalk.walks
      where outcome = 'proven' and role = 'whole' and proof ->> 'kind' <> 'union' and (proof ->> 'records')::bigint <> records
      union all
     select format('window %s is %s without a reason', window_id, state)
       from daywalk.windows where state = 'failed' and coalesce(last_error, '') = ''
      union all
     select format('window %s is complete without a proven walk', w.window_id)
       from daywalk.windows w
      where w.state = 'complete' and w.kind <> 'cut' and w.split_by is null
        and not exists (select from daywalk.walks k where k.window_id = w.window_id and k.outcome = 'proven')
      union all
     select format('window %s is complete, and its part or cut %s is %s', w.window_id, leaf.window_id, leaf.state)
       from daywalk.windows w
      cross join lateral daywalk.leaves(w.window_id) as leaf
      where w.state = 'complete' and w.split_by is not null and leaf.state <> 'complete'
      union all
     select format('day %s is said to show %s records and shows %s', d.day, d.records, count(r.day))
       from daywalk.days d
       left join daywalk.shown_records r on r.stream_id = d.stream_id and r.day = d.day
      group by d.stream_id, d.day, d.records
     having count(r.day) <> d.records
      union all
     select format('window %s is still held', window_id) from daywalk.windows where lease_expires > clock_timestamp()
      union all
     select format('page %s of walk %s: the kept bytes are not those received', page_no, walk_id)
       from daywalk.pages where bytes is not null and sha256(bytes) <> sha256`,
  );
  return rows.map((row) => row.problem);
}
