/** A page that the source shows now, against the stored one: compared record by record as `jsonb`, inside Postgres. */
import type { Envelope } from '../model.ts';
import type { Database } from './database.ts';
import { asJsonb } from './page-facts.ts';
import { sanitise } from './sanitise.ts';
import { BodyRefusedError } from './sqlstate.ts';

/** A record that only one of the two pages holds. */
export interface LoneRecord {
  /** In the record list of the page, from 1; one that was asked for again is not counted. */
  readonly position: number;
  /** SHA-256 of its text, hexadecimal: finds it on another page. */
  readonly sha256: string;
}

/** What differs between the stored page and the one that came now. */
export interface PageDifference {
  /** Records in the list that came, without those skipped; null: there is no list. */
  readonly records: number | null;
  readonly total: number | null;
  readonly storedOnly: readonly LoneRecord[];
  readonly cameOnly: readonly LoneRecord[];
}

/** What a page that came is compared with. */
export interface Counterpart {
  readonly walkId: number;
  /** Null: behind the last stored page, so that everything that comes is new. */
  readonly pageNo: number | null;
  /** Records at its beginning that the page before holds already. */
  readonly skip: number;
  readonly envelope: Envelope;
}

/** Compares the body of a page that came; stores nothing. */
export function comparePage(
  database: Database,
  stored: Counterpart,
  body: Buffer,
  signal?: AbortSignal,
): Promise<PageDifference> {
  return compareBody(database, stored, body, signal).catch((error: unknown) => {
    if (!(error instanceof BodyRefusedError)) throw error;
    return compareBody(database, stored, sanitise(body).body, signal);
  });
}

type Pairs = [position: number, sha256: string][];

async function compareBody(
  database: Database,
  { walkId, pageNo, skip, envelope }: Counterpart,
  body: Buffer,
  signal?: AbortSignal,
): Promise<PageDifference> {
  const [row] = await database.persist<{
    records: number | null;
    total: number | null;
    stored_only: Pairs | null;
    came_only: Pairs | null;
  }>(
    `with came as materialized (
       select body #> $2::text[] as list, body #>> $3::text[] as total from (select $1::jsonb as body) as page
     ), stored as materialized (
       select p.body #> $2::text[] as list
         from daywalk.walks k join daywalk.pages p on p.walk_id = k.walk_id and p.day = k.day
        where k.walk_id = $4 and p.page_no = $5
     ), differ as materialized (
       -- Mostly the two are equal, which one comparison shows.
       select came.list as came, (select list from stored) as stored
         from came where jsonb_typeof(came.list) = 'array' and came.list is distinct from (select list from stored)
     ), came_records as materialized (
       select r.position - $6::integer as position, r.record,
              row_number() over (partition by jsonb_hash_extended(r.record, 0) order by r.position) as copy
         from differ cross join lateral jsonb_array_elements(differ.came) with ordinality as r (record, position)
        where r.position > $6::integer
     ), stored_records as materialized (
       select r.position - $6::integer as position, r.record,
              row_number() over (partition by jsonb_hash_extended(r.record, 0) order by r.position) as copy
         from differ cross join lateral jsonb_array_elements(coalesce(differ.stored, '[]')) with ordinality as r (record, position)
        where r.position > $6::integer
     ), lone as materialized (
       select s.position as stored_at, c.position as came_at,
              encode(sha256(convert_to(coalesce(s.record, c.record)::text, 'UTF8')), 'hex') as sha256
         from stored_records s full join came_records c on c.record = s.record and c.copy = s.copy
        where s.position is null or c.position is null
     )
     select case when jsonb_typeof(came.list) = 'array' then greatest(0, jsonb_array_length(came.list) - $6::integer) end as records,
            case when came.total ~ '^[0-9]{1,15}$' then came.total::bigint end as total,
            (select jsonb_agg(jsonb_build_array(stored_at, sha256) order by stored_at) from lone where stored_at is not null) as stored_only,
            (select jsonb_agg(jsonb_build_array(came_at, sha256) order by came_at) from lone where came_at is not null) as came_only
       from came`,
    [asJsonb(body), envelope.recordsPath, envelope.totalPath, walkId, pageNo, skip],
    signal,
  );
  if (row === undefined) throw new Error('a select from one row returned none');
  const told = (pairs: Pairs | null) =>
    (pairs ?? []).map(([position, sha256]) => ({ position, sha256 }));
  return {
    records: row.records,
    total: row.total,
    storedOnly: told(row.stored_only),
    cameOnly: told(row.came_only),
  };
}
