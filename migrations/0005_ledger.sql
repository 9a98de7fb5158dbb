-- The ledger: what an auditor can check with SQL alone (docs/ledger.md). A seal is a digest of everything that is stored
-- of a page; the ledger is a chain of digests for each stream, one row for each day whenever it is published anew.

create function daywalk.text_digest(content text) returns bytea
language sql immutable parallel safe as $$
  select sha256(convert_to(content, 'UTF8'))
$$;

-- Of the text and not of jsonb_send, which depends on the encoding of the client.
create function daywalk.body_digest(body jsonb) returns bytea
language sql immutable parallel safe as $$
  select sha256(convert_to(body::text, 'UTF8'))
$$;

-- Every column of a page; a JSON array is a text that reads in one way only and depends on no setting of a session.
create function daywalk.page_digest(p daywalk.pages, body_sha256 bytea) returns bytea
language sql stable parallel safe as $$
  select daywalk.text_digest(jsonb_build_array(
    (p).walk_id, (p).page_no, (p).day, (p).start, (p).length, (p).skip, (p).records, (p).total, (p).relation,
    encode(body_sha256, 'hex'), encode(sha256((p).bytes), 'hex'), (p).changes,
    encode(daywalk.text_digest(array_to_string((p).record_hashes, ',')), 'hex'),
    encode((p).sha256, 'hex'), (p).byte_count, extract(epoch from (p).fetched_at), (p).duration_ms)::text)
$$;

create table daywalk.seals (
  walk_id     bigint not null references daywalk.walks,
  page_no     integer not null,
  day         date not null,
  body_sha256 bytea not null check (octet_length(body_sha256) = 32),
  digest      bytea not null check (octet_length(digest) = 32),
  sealed_at   timestamptz not null default clock_timestamp(),
  primary key (walk_id, page_no)
);

create table daywalk.ledger (
  stream_id       integer not null references daywalk.streams,
  entry           bigint not null check (entry > 0),
  day             date not null,
  revision        integer not null check (revision > 0),
  walks           bigint[] not null,
  pages           bigint not null,
  records         bigint not null,
  bytes           bigint not null,
  pages_sha256    bytea not null,
  walks_sha256    bytea not null,
  overlaps_sha256 bytea not null,
  appended_at     timestamptz not null,
  previous        bytea not null,
  digest          bytea not null,
  primary key (stream_id, entry),
  unique (stream_id, day, revision)
);

create function daywalk.refuse_change() returns trigger
language plpgsql as $$
begin
  raise exception 'daywalk.% is append-only', tg_table_name using errcode = 'integrity_constraint_violation';
end $$;
create trigger append_only before update or delete or truncate on daywalk.seals
  for each statement execute function daywalk.refuse_change();
create trigger append_only before update or delete or truncate on daywalk.ledger
  for each statement execute function daywalk.refuse_change();

-- Seals the pages of a walk that are not sealed yet, between two page numbers.
create function daywalk.seal_pages(walk bigint, first_page integer, last_page integer) returns void
language sql as $$
  insert into daywalk.seals (walk_id, page_no, day, body_sha256, digest)
  select p.walk_id, p.page_no, p.day, body.digest, daywalk.page_digest(p, body.digest)
    from daywalk.pages p
   cross join lateral (select daywalk.body_digest(p.body) as digest offset 0) as body
   where p.walk_id = walk and p.day = (select k.day from daywalk.walks k where k.walk_id = walk)
     -- An array and not a join, because a planner may join after it has read all the bodies.
     and p.page_no = any (array(select generate_series(first_page, least(last_page, (select k.pages - 1 from daywalk.walks k where k.walk_id = walk)))
                                except select s.page_no from daywalk.seals s where s.walk_id = walk))
  on conflict do nothing
$$;

-- The digests below run with the rights of the owner, because a reader of the ledger's views may not see the tables.

-- What the ledger says about walks: their seals, their numbers and windows, and which of their records the views leave out.
create function daywalk.seals_digest(of_walks bigint[]) returns bytea
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select daywalk.text_digest(coalesce(string_agg(s.walk_id || ':' || s.page_no || ':' || encode(s.digest, 'hex'), ',' order by s.walk_id, s.page_no), ''))
    from daywalk.seals s where s.walk_id = any (of_walks)
$$;
create function daywalk.walks_digest(of_walks bigint[]) returns bytea
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select daywalk.text_digest(coalesce(string_agg(jsonb_build_array(
           k.walk_id, w.stream_id, w.window_id, w.kind, w.day, w.from_time, w.to_time, w.level_from, w.level_to, k.number, k.span,
           k.page_length, k.records_path, k.total_path, k.relation_path, k.pages, k.records, k.bytes, k.first_total,
           k.last_total, k.proof)::text, ',' order by k.walk_id), ''))
    from daywalk.walks k join daywalk.windows w on w.window_id = k.window_id
   where k.walk_id = any (of_walks)
$$;
create function daywalk.overlaps_digest(of_walks bigint[]) returns bytea
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select daywalk.text_digest(coalesce(string_agg(o.walk_id || ':' || o.page_no || ':' || array_to_string(o.positions, ' '), ',' order by o.walk_id, o.page_no), ''))
    from daywalk.overlaps o where o.walk_id = any (of_walks)
$$;

-- The first link of a stream's chain.
create function daywalk.ledger_origin(stream integer) returns bytea
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select daywalk.text_digest(jsonb_build_array(name, resource, filters)::text) from daywalk.streams where stream_id = stream
$$;
create function daywalk.ledger_digest(l daywalk.ledger) returns bytea
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select daywalk.text_digest(jsonb_build_array(
    (l).stream_id, (l).entry, (l).day, (l).revision, (l).walks, (l).pages, (l).records, (l).bytes,
    encode((l).pages_sha256, 'hex'), encode((l).walks_sha256, 'hex'), encode((l).overlaps_sha256, 'hex'),
    extract(epoch from (l).appended_at), encode((l).previous, 'hex'))::text)
$$;

-- The published walks of every complete day.
create view daywalk.published_days as
select w.stream_id, w.day,
       coalesce((select array_agg(k.walk_id order by k.walk_id)
                   from daywalk.windows x join daywalk.walks k on k.window_id = x.window_id
                  where x.stream_id = w.stream_id and x.day = w.day and k.published), '{}') as walks
  from daywalk.windows w
 where w.state <> 'split'
 group by w.stream_id, w.day
having bool_and(w.state = 'complete');

-- The complete days that are not in the ledger as they are now.
create view daywalk.ledger_due as
select s.name as stream, d.stream_id, d.day, d.walks, l.entry,
       (select coalesce(sum(k.pages), 0) from daywalk.walks k where k.walk_id = any (d.walks))
         - (select count(*) from daywalk.seals e where e.walk_id = any (d.walks)) as unsealed_pages
  from daywalk.published_days d
  join daywalk.streams s on s.stream_id = d.stream_id
  left join lateral (select * from daywalk.ledger l
                      where l.stream_id = d.stream_id and l.day = d.day
                      order by l.revision desc limit 1) as l on true
 where l.walks is distinct from d.walks or l.overlaps_sha256 is distinct from daywalk.overlaps_digest(d.walks);

-- Appends a complete day to the ledger, if it is not there as it is now; the pages left are sealed with it. Returns the
-- entry; null: nothing to append.
create function daywalk.append_to_ledger(of_stream integer, on_day date) returns bigint
language plpgsql as $$
declare
  due daywalk.ledger_due;
  line daywalk.ledger;
begin
  perform pg_advisory_xact_lock(hashtext('daywalk.ledger'), of_stream);
  -- The long work first: who publishes this day meanwhile waits for the update below.
  perform daywalk.seal_pages(k.walk_id, 0, k.pages)
     from daywalk.ledger_due d join daywalk.walks k on k.walk_id = any (d.walks)
    where d.stream_id = of_stream and d.day = on_day;
  -- Before the day is read, so that what is published from now on marks it again.
  update daywalk.days set unsealed = false where stream_id = of_stream and day = on_day and unsealed;
  select * into due from daywalk.ledger_due where stream_id = of_stream and day = on_day;
  if due.walks is null or due.walks = '{}' then return null; end if;
  perform daywalk.seal_pages(k.walk_id, 0, k.pages) from daywalk.walks k where k.walk_id = any (due.walks) order by k.walk_id;
  select l.entry + 1, l.digest into line.entry, line.previous
    from daywalk.ledger l where l.stream_id = of_stream order by l.entry desc limit 1;
  line.stream_id := of_stream;
  line.entry := coalesce(line.entry, 1);
  line.previous := coalesce(line.previous, daywalk.ledger_origin(of_stream));
  line.day := on_day;
  line.revision := 1 + coalesce((select max(l.revision) from daywalk.ledger l where l.stream_id = of_stream and l.day = on_day), 0);
  line.walks := due.walks;
  select sum(k.pages), sum(k.records), sum(k.bytes) into line.pages, line.records, line.bytes
    from daywalk.walks k where k.walk_id = any (due.walks);
  line.pages_sha256 := daywalk.seals_digest(due.walks);
  line.walks_sha256 := daywalk.walks_digest(due.walks);
  line.overlaps_sha256 := daywalk.overlaps_digest(due.walks);
  line.appended_at := clock_timestamp();
  line.digest := daywalk.ledger_digest(line);
  insert into daywalk.ledger select line.*;
  return line.entry;
end $$;

-- For the auditor: every row of the ledger, recomputed from what it speaks about.
create view daywalk.ledger_check as
select c.stream, c.entry, c.day, c.revision, c.digest, c.missing_before, c.row_ok, c.chain_ok, c.pages_ok, c.walks_ok, c.newest, c.state_ok,
       c.missing_before = 0 and c.row_ok and c.chain_ok and c.pages_ok and c.walks_ok and c.state_ok is not false as ok
  from (select s.name as stream, l.entry, l.day, l.revision, l.digest,
               l.entry - 1 - coalesce(lag(l.entry) over chain, 0) as missing_before,
               l.digest = daywalk.ledger_digest(l) as row_ok,
               l.previous = coalesce(lag(l.digest) over chain, daywalk.ledger_origin(l.stream_id)) as chain_ok,
               l.pages_sha256 = daywalk.seals_digest(l.walks) as pages_ok,
               l.walks_sha256 = daywalk.walks_digest(l.walks) as walks_ok,
               lead(l.revision) over (partition by l.stream_id, l.day order by l.revision) is null as newest,
               -- Pages without a seal: published just now, and appended soon.
               case when lead(l.revision) over (partition by l.stream_id, l.day order by l.revision) is null
                    then case when not coalesce(d.unsealed_pages > 0, false) then d.stream_id is null end end as state_ok
          from daywalk.ledger l
          join daywalk.streams s on s.stream_id = l.stream_id
          left join daywalk.ledger_due d on d.stream_id = l.stream_id and d.day = l.day
        window chain as (partition by l.stream_id order by l.entry)) as c;

-- For the auditor: the pages of a walk between two page numbers, recomputed from what is stored, with what is wrong.
create function daywalk.check_pages(walk bigint, first_page integer, last_page integer)
returns table (page_no integer, byte_count integer, sealed boolean, problems text[])
language sql stable as $$
  with stored as materialized (
    -- All that needs the body, once for each page; joined with the seals afterwards.
    select p.page_no, p.byte_count, body.digest as body_sha256, daywalk.page_digest(p, body.digest) as digest,
           p.record_hashes = array(
             select jsonb_hash_extended(r.record, 0)
               from jsonb_array_elements(case jsonb_typeof(body.list) when 'array' then body.list else '[]' end)
                    with ordinality as r (record, position)
              where r.position > p.skip order by r.position) as hashes_ok,
           case when sha256(p.bytes) <> p.sha256 then 'the kept bytes are not what was received'
                when octet_length(p.bytes) <> p.byte_count then 'the byte count is not that of the kept bytes'
                when p.changes is null and body.digest <> daywalk.body_digest(convert_from(p.bytes, 'UTF8')::jsonb)
                then 'its body is not that of the kept bytes' end as kept
      from daywalk.walks k
      join daywalk.pages p on p.walk_id = walk and p.page_no between first_page and last_page and p.day = k.day
     cross join lateral (select daywalk.body_digest(p.body) as digest, p.body #> k.records_path as list offset 0) as body
     where k.walk_id = walk
  ), seals as materialized (
    select s.page_no, s.body_sha256, s.digest from daywalk.seals s
     where s.walk_id = walk and s.page_no between first_page and last_page
  )
  select coalesce(p.page_no, s.page_no), coalesce(p.byte_count, 0), s.page_no is not null,
         case when p.page_no is null then array['the row is gone']
              else array_remove(array[
                case when p.body_sha256 <> s.body_sha256
                     then coalesce((select format('its body is that of page %s', min(other.page_no)) from daywalk.seals other
                                     where other.walk_id = walk and other.body_sha256 = p.body_sha256 having count(*) > 0),
                                   'its body is not what was stored')
                     when p.digest <> s.digest then 'the row beside the body is not what was stored' end,
                case when not p.hashes_ok then 'its record hashes are not those of its records' end,
                p.kept
              ], null) end
    from stored p
    full join seals s on s.page_no = p.page_no
   order by 1
$$;

-- For the auditor: walks whose pages do not add up to what the walk says.
create function daywalk.check_walk(walk bigint) returns text[]
language sql stable as $$
  select array_remove(array[
           case when c.pages <> k.pages then format('it says %s pages, %s are there', k.pages, c.pages) end,
           case when c.missing is not null then format('page %s is missing', array_to_string(c.missing, ', ')) end,
           case when c.records <> k.records then format('it says %s records, its pages hold %s', k.records, c.records) end,
           case when c.bytes <> k.bytes then format('it says %s bytes, its pages hold %s', k.bytes, c.bytes) end,
           case when c.broken is not null then format('page %s does not begin where the page before ends', array_to_string(c.broken, ', ')) end
         ], null)
    from daywalk.walks k
   cross join lateral (
     select count(p.page_no) as pages, coalesce(sum(p.records), 0) as records, coalesce(sum(p.byte_count), 0) as bytes,
            array_agg(n order by n) filter (where p.page_no is null) as missing,
            array_agg(n order by n) filter (where p.start + p.skip <> p.expected) as broken
       from (select page_no, start, skip, records, byte_count,
                    coalesce(sum(records) over (order by page_no rows between unbounded preceding and 1 preceding), 0) as expected
               from daywalk.pages where walk_id = k.walk_id and day = k.day) as p
       full join generate_series(0, k.pages - 1) as n on n = p.page_no) as c
   where k.walk_id = walk
$$;
