/** A page that the source shows now, against the stored one: compared record by record, inside Postgres. */
import type { Database } from './database.ts';
import { readAsJsonb } from './page-facts.ts';

/** A record that only one of the two pages holds. */
export interface LoneRecord {
  /** In the record list of the page, from 1; one that was asked for again is not counted. */
  readonly position: number;
  /** The hash of what is the record: finds it on another page. */
  readonly hash: string;
}

/** What differs between the stored page and the one that came now. */
export interface PageDifference {
  /** False: the page that it is to be compared with is not there any more. */
  readonly isStored: boolean;
  /** Records in the list that came, without those skipped; null: there is no list. */
  readonly records: number | null;
  readonly storedOnly: readonly LoneRecord[];
  readonly cameOnly: readonly LoneRecord[];
}

/** What a page that came is compared with. */
export interface Counterpart {
  readonly walkId: number;
  /** Null: behind the last stored page, so that everything that comes is new. */
  readonly pageNo: number | null;
  /** Its body as the text of its `jsonb`, where the day moved. */
  readonly moved?: string | undefined;
  /** Records at its beginning that the page before holds already. */
  readonly skip: number;
  /** Where the record list is in both. */
  readonly recordsPath: readonly string[];
}

/** Compares the body of a page that came; stores nothing. */
export function comparePage(
  database: Database,
  stored: Counterpart,
  body: Buffer,
  signal?: AbortSignal,
): Promise<PageDifference> {
  return readAsJsonb(body, (form) => compareBody(database, stored, form.body, signal));
}

type Pairs = [position: number, hash: string][];

async function compareBody(
  database: Database,
  { walkId, pageNo, moved, skip, recordsPath }: Counterpart,
  body: Buffer,
  signal?: AbortSignal,
): Promise<PageDifference> {
  const [row] = await database.persist<{
    stored: boolean;
    records: number | null;
    stored_only: Pairs | null;
    came_only: Pairs | null;
  }>(
    `with walk as materialized (
       select k.ignored, $4::integer is null or $6::text is not null or p.walk_id is not null as stored, coalesce($6::text::jsonb, p.body) #> $2::text[] as list
         from daywalk.walks k left join daywalk.pages p on p.walk_id = k.walk_id and p.day = k.day and p.page_no = $4
        where k.walk_id = $3
     ), came as materialized (
       select $1::text::jsonb #> $2::text[] as list
     ), differ as materialized (
       -- Mostly the two are equal, which one comparison shows.
       select case when jsonb_typeof(came.list) = 'array' then daywalk.hashes_of(came.list, walk.ignored) else '{}' end as came,
              case when jsonb_typeof(walk.list) = 'array' then daywalk.hashes_of(walk.list, walk.ignored) else '{}' end as stored
         from came cross join walk where came.list is distinct from walk.list
     ), came_records as materialized (
       select r.position - $5::integer as position, r.hash, row_number() over (partition by r.hash order by r.position) as copy
         from differ cross join lateral unnest(differ.came) with ordinality as r (hash, position)
        where r.position > $5::integer
     ), stored_records as materialized (
       select r.position - $5::integer as position, r.hash, row_number() over (partition by r.hash order by r.position) as copy
         from differ cross join lateral unnest(differ.stored) with ordinality as r (hash, position)
        where r.position > $5::integer
     ), lone as materialized (
       select s.position as stored_at, c.position as came_at, coalesce(s.hash, c.hash)::text as hash
         from stored_records s full join came_records c on c.hash = s.hash and c.copy = s.copy
        where s.position is null or c.position is null
     )
     select (select stored from walk) as stored,
            case when jsonb_typeof(came.list) = 'array' then greatest(0, jsonb_array_length(came.list) - $5::integer) end as records,
            (select jsonb_agg(jsonb_build_array(stored_at, hash) order by stored_at) from lone where stored_at is not null) as stored_only,
            (select jsonb_agg(jsonb_build_array(came_at, hash) order by came_at) from lone where came_at is not null) as came_only
       from came`,
    [body, recordsPath, walkId, pageNo, skip, moved ?? null],
    signal,
  );
  if (row === undefined) throw new Error('a select from one row returned none');
  const told = (pairs: Pairs | null) =>
    (pairs ?? []).map(([position, hash]) => ({ position, hash }));
  return {
    isStored: row.stored,
    records: row.records,
    storedOnly: told(row.stored_only),
    cameOnly: told(row.came_only),
  };
}
