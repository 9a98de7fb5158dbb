-- The ledger: what an auditor can check with SQL alone (docs/ledger.md). A seal is a digest of everything that is stored
-- of a page; the ledger is a chain of digests for each stream, one row for each day whenever what is shown of it has changed.

-- SHA-256 of a text in UTF-8.
create function daywalk.text_digest(content text) returns bytea
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
  select sha256(convert_to(content, 'UTF8'))
$$;

-- Of the text and not of jsonb_send, which depends on the encoding of the client.
create function daywalk.body_digest(body jsonb) returns bytea
language sql immutable parallel safe set search_path = pg_catalog, pg_temp as $$
  select sha256(convert_to(body::text, 'UTF8'))
$$;

-- Every column of a page; a JSON array is a text that reads in one way only and depends on no setting of a session.
create function daywalk.page_digest(p daywalk.pages, body_sha256 bytea) returns bytea
language sql stable parallel safe set search_path = pg_catalog, pg_temp as $$
  select daywalk.text_digest(jsonb_build_array(
    (p).walk_id, (p).page_no, (p).day, (p).start, (p).length, (p).skip, (p).records, (p).total, (p).relation,
    (p).total_missing, (p).more, encode(body_sha256, 'hex'), encode(sha256((p).bytes), 'hex'), (p).changes,
    encode(daywalk.text_digest(array_to_string((p).record_hashes, ',')), 'hex'), encode(daywalk.text_digest((p).id_hashes::text), 'hex'),
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
comment on table daywalk.seals is 'A seal is a digest of everything that is stored of a page, made when its day is complete. Append-only.';
comment on column daywalk.seals.body_sha256 is 'daywalk.body_digest of the body: SHA-256 of body::text in UTF-8.';
comment on column daywalk.seals.digest is 'daywalk.page_digest of the row: SHA-256 over all its columns, the body as body_sha256.';
comment on column daywalk.seals.sealed_at is 'When it was made.';

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
  marks_sha256 bytea not null,
  appended_at     timestamptz not null,
  previous        bytea not null,
  digest          bytea not null,
  primary key (stream_id, entry),
  unique (stream_id, day, revision)
);
comment on table daywalk.ledger is 'A chain of digests for each stream: a row for each day when it is complete, and another one when what is shown of it has changed. Append-only.';
comment on column daywalk.ledger.entry is '1, 2, 3 … within the stream, in the order of appending, which need not be that of the days.';
comment on column daywalk.ledger.revision is '1, 2, 3 … within the day: what is shown of it changed.';
comment on column daywalk.ledger.walks is 'The walks that are shown of the day.';
comment on column daywalk.ledger.pages is 'Their pages.';
comment on column daywalk.ledger.records is 'Their records, those counted twice that two of them hold.';
comment on column daywalk.ledger.bytes is 'Bytes received for them.';
comment on column daywalk.ledger.pages_sha256 is 'daywalk.seals_digest of the walks: over the seals of their pages, in order.';
comment on column daywalk.ledger.walks_sha256 is 'daywalk.walks_digest of the walks: over their windows, numbers and proofs.';
comment on column daywalk.ledger.marks_sha256 is 'daywalk.marks_digest of the walks: which of their records are shown, and since when some are gone.';
comment on column daywalk.ledger.appended_at is 'When the row was appended.';
comment on column daywalk.ledger.previous is 'The digest of the entry before; of the first one: daywalk.ledger_origin.';
comment on column daywalk.ledger.digest is 'daywalk.ledger_digest of the row: SHA-256 over all its other columns, previous among them.';

-- Refuses updates and deletions of append-only tables.
create function daywalk.refuse_change() returns trigger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  raise exception 'daywalk.% is append-only', tg_table_name using errcode = 'integrity_constraint_violation';
end $$;
create trigger append_only before update or delete or truncate on daywalk.seals
  for each statement execute function daywalk.refuse_change();
create trigger append_only before update or delete or truncate on daywalk.ledger
  for each statement execute function daywalk.refuse_change();

-- Seals the pages of a walk that are not sealed yet, between two page numbers.
create function daywalk.seal_pages(walk bigint, first_page integer, last_page integer) returns void
language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
  its_day date;
  its_last integer;
begin
  select k.day, least(last_page, k.pages - 1) into its_day, its_last from daywalk.walks k where k.walk_id = walk;
  insert into daywalk.seals (walk_id, page_no, day, body_sha256, digest)
  select p.walk_id, p.page_no, p.day, body.digest, daywalk.page_digest(p, body.digest)
    from daywalk.pages p
   cross join lateral (select daywalk.body_digest(p.body) as digest offset 0) as body
   where p.walk_id = walk and p.day = its_day
     -- An array and not a join, because a planner may join after it has read all the bodies.
     and p.page_no = any (array(select generate_series(first_page, its_last)
                                except select s.page_no from daywalk.seals s where s.walk_id = walk))
  on conflict do nothing;
end $$;

-- The digests below run with the rights of the owner, because a reader of the ledger's views may not see the tables.

-- What the ledger says about walks: their seals, their numbers and windows, and which of their records are shown.
create function daywalk.seals_digest(of_walks bigint[]) returns bytea
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
begin
  return (
  select daywalk.text_digest(coalesce(string_agg(s.walk_id || ':' || s.page_no || ':' || encode(s.digest, 'hex'), ',' order by s.walk_id, s.page_no), ''))
    from daywalk.seals s where s.walk_id = any (of_walks));
end $$;
-- SHA-256 over walks and their windows.
create function daywalk.walks_digest(of_walks bigint[]) returns bytea
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
begin
  return (
  select daywalk.text_digest(coalesce(string_agg(jsonb_build_array(
           k.walk_id, w.stream_id, w.window_id, w.kind, k.day, k.from_time, k.to_time, k.level_from, k.level_to, k.number, k.role, k.ignored, k.id_path,
           k.page_length, k.records_path, k.total_path, k.relation_path, k.pages, k.records, k.bytes, k.first_total,
           k.last_total, k.proof)::text, ',' order by k.walk_id), ''))
    from daywalk.walks k join daywalk.windows w on w.window_id = k.window_id
   where k.walk_id = any (of_walks));
end $$;
-- Of walks whether they are shown whole or in part, and of marks what readers see of them: a record that is missing is shown like any other.
create function daywalk.marks_digest(of_walks bigint[]) returns bytea
language plpgsql stable security definer set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
begin
  return (
  select daywalk.text_digest(coalesce((select string_agg(k.walk_id || ':' || k.shown, ',' order by k.walk_id) from daywalk.walks k where k.walk_id = any (of_walks)), '')
           || ';' || coalesce(string_agg(jsonb_build_array(mark.walk_id, mark.page_no, mark.position, seen.state, mark.revision,
           case when seen.state = 'gone' then extract(epoch from mark.since) end, extract(epoch from mark.first_seen))::text, ','
           order by mark.walk_id, mark.page_no, mark.position), ''))
    from daywalk.marks mark
    join daywalk.walks k on k.walk_id = mark.walk_id
   cross join lateral (select case when mark.hidden_by is not null then 'hidden' when mark.state = 'missing' then 'shown' else mark.state end as state) as seen
   where mark.walk_id = any (of_walks)
     and (seen.state <> 'shown' or k.shown = 'part' or mark.revision > 1 or mark.first_seen is not null));
end $$;

-- The first link of a stream's chain.
create function daywalk.ledger_origin(stream integer) returns bytea
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select daywalk.text_digest(jsonb_build_array(name, resource, filters)::text) from daywalk.streams where stream_id = stream
$$;
-- SHA-256 over a row of the ledger.
create function daywalk.ledger_digest(l daywalk.ledger) returns bytea
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select daywalk.text_digest(jsonb_build_array(
    (l).stream_id, (l).entry, (l).day, (l).revision, (l).walks, (l).pages, (l).records, (l).bytes,
    encode((l).pages_sha256, 'hex'), encode((l).walks_sha256, 'hex'), encode((l).marks_sha256, 'hex'),
    extract(epoch from (l).appended_at), encode((l).previous, 'hex'))::text)
$$;

-- The walks of every complete day that are shown.
create view daywalk.shown_days as
select d.stream_id, d.day,
       coalesce((select array_agg(k.walk_id order by k.walk_id)
                   from daywalk.windows w join daywalk.walks k on k.window_id = w.window_id
                  -- The midnight before may be a window of the day before by now.
                  where w.stream_id = d.stream_id and (w.day = d.day or w.midnight = d.day - 1) and k.day = d.day and k.shown <> 'no'), '{}') as walks
  from daywalk.windows d
 where d.kind = 'day'
   and not exists (select from daywalk.unfinished_days u where u.stream_id = d.stream_id and u.day = d.day);
comment on view daywalk.shown_days is 'The walks of every complete day that are shown.';
-- The complete days that are not in the ledger as they are now.
create view daywalk.ledger_due as
select s.name as stream, d.stream_id, d.day, d.walks, l.entry,
       (select coalesce(sum(k.pages), 0) from daywalk.walks k where k.walk_id = any (d.walks))
         - (select count(*) from daywalk.seals e where e.walk_id = any (d.walks)) as unsealed_pages,
       coalesce((select n.unsealed from daywalk.days n where n.stream_id = d.stream_id and n.day = d.day), false) as expected
  from daywalk.shown_days d
  join daywalk.streams s on s.stream_id = d.stream_id
  left join lateral (select * from daywalk.ledger l
                      where l.stream_id = d.stream_id and l.day = d.day
                      order by l.revision desc limit 1) as l on true
 where l.walks is distinct from d.walks or l.marks_sha256 is distinct from daywalk.marks_digest(d.walks);

comment on view daywalk.ledger_due is 'The complete days that are not in the ledger as they are now; the next run appends them.';
comment on column daywalk.ledger_due.entry is 'The newest entry about the day, which says something else; null: there is none.';
comment on column daywalk.ledger_due.expected is 'Something was shown, or hidden, since: the next run puts it into the ledger.';
comment on column daywalk.ledger_due.unsealed_pages is 'Pages without a seal. None: the day was in the ledger before, and the row is gone, or single records were just marked.';
-- Appends a complete day to the ledger, if it is not there as it is now; the pages left are sealed with it. Returns the
-- entry; null: nothing to append.
create function daywalk.append_to_ledger(of_stream integer, on_day date) returns bigint
language plpgsql set search_path = pg_catalog, pg_temp set plan_cache_mode = force_generic_plan as $$
declare
  due daywalk.ledger_due;
  line daywalk.ledger;
  marked boolean;
begin
  perform daywalk.need_read_committed();
  perform pg_advisory_xact_lock(hashtext('daywalk.ledger'), of_stream);
  -- The long work first: who shows something of this day meanwhile waits for the update below.
  perform daywalk.seal_pages(k.walk_id, 0, k.pages)
     from daywalk.ledger_due d join daywalk.walks k on k.walk_id = any (d.walks)
    where d.stream_id = of_stream and d.day = on_day;
  -- Before the day is read, so that what is shown from now on marks it again.
  update daywalk.days set unsealed = false where stream_id = of_stream and day = on_day and unsealed;
  marked := found;
  select * into due from daywalk.ledger_due where stream_id = of_stream and day = on_day;
  if due.walks is null or due.walks = '{}' then
    -- It was complete when it was chosen: a failover took that away, or it is walked again. What completes it may show nothing new.
    update daywalk.days n set unsealed = true
     where marked and n.stream_id = of_stream and n.day = on_day
       and not exists (select from daywalk.shown_days d where d.stream_id = of_stream and d.day = on_day);
    return null;
  end if;
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
  line.marks_sha256 := daywalk.marks_digest(due.walks);
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
               -- Shown just now, and appended soon.
               case when lead(l.revision) over (partition by l.stream_id, l.day order by l.revision) is null
                    then case when not coalesce(d.expected, false) then d.stream_id is null end end as state_ok
          from daywalk.ledger l
          join daywalk.streams s on s.stream_id = l.stream_id
          left join daywalk.ledger_due d on d.stream_id = l.stream_id and d.day = l.day
        window chain as (partition by l.stream_id order by l.entry)) as c;

comment on view daywalk.ledger_check is 'Every row of the ledger, recomputed from what it speaks about; docs/ledger.md tells how to read it.';
comment on column daywalk.ledger_check.entry is 'The entry.';
comment on column daywalk.ledger_check.revision is 'The revision of the day.';
comment on column daywalk.ledger_check.digest is 'The digest as stored; keep the newest one of each stream elsewhere.';
comment on column daywalk.ledger_check.missing_before is 'How many entries are missing before this one.';
comment on column daywalk.ledger_check.row_ok is 'The row is as it was appended.';
comment on column daywalk.ledger_check.chain_ok is 'It follows the row before.';
comment on column daywalk.ledger_check.pages_ok is 'The seals of its pages are as they were.';
comment on column daywalk.ledger_check.walks_ok is 'Its walks and their windows are as they were.';
comment on column daywalk.ledger_check.newest is 'It is the newest revision of its day.';
comment on column daywalk.ledger_check.state_ok is 'Of a newest revision: what is shown is what it says; null where that changed just now, and is about to be appended.';
comment on column daywalk.ledger_check.ok is 'All of it.';
-- Whether a walk went by a pruning that says so, too: with its day, or because nothing of it is shown. The ledger keeps its seals, and no
-- pages are to be there.
create function daywalk.was_pruned(k daywalk.walks) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
  select exists (select from daywalk.prunings g join daywalk.windows w on w.window_id = (k).window_id and w.stream_id = g.stream_id
                  where g.pruning_id = (k).pruning and (k).walk_id = any (g.walks) and g.day = (k).day and (g.what = 'day' or (k).shown = 'no'))
$$;

-- For the auditor: the pages of a walk between two page numbers, recomputed from what is stored, with what is wrong.
create function daywalk.check_pages(walk bigint, first_page integer, last_page integer)
returns table (page_no integer, byte_count integer, sealed boolean, problems text[])
language sql stable set search_path = pg_catalog, pg_temp as $$
  with stored as materialized (
    -- All that needs the body, once for each page; joined with the seals afterwards.
    select p.page_no, p.byte_count, body.digest as body_sha256, daywalk.page_digest(p, body.digest) as digest,
           p.record_hashes = (daywalk.hashes_of(body.list, k.ignored))[p.skip + 1 :]
             and p.id_hashes is not distinct from case when k.id_path is not null then (daywalk.ids_of(body.list, k.id_path))[p.skip + 1 :] end as hashes_ok,
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
       and not exists (select from daywalk.walks k where k.walk_id = walk and daywalk.was_pruned(k))
  )
  select coalesce(p.page_no, s.page_no), coalesce(p.byte_count, 0), s.page_no is not null,
         case when p.page_no is null then array['the row is gone']
              else array_remove(array[
                case when p.body_sha256 <> s.body_sha256
                     then coalesce((select format('its body is that of page %s', min(other.page_no)) from daywalk.seals other
                                     where other.walk_id = walk and other.body_sha256 = p.body_sha256 having count(*) > 0),
                                   'its body is not what was stored')
                     when p.digest <> s.digest then 'the row beside the body is not what was stored' end,
                case when not p.hashes_ok then 'its hashes are not those of its records' end,
                p.kept
              ], null) end
    from stored p
    full join seals s on s.page_no = p.page_no
   order by 1
$$;
comment on function daywalk.check_pages is 'Recomputes the pages of a walk and tells what is wrong with them.';

-- For the auditor: walks whose pages do not add up to what the walk says.
create function daywalk.check_walk(walk bigint) returns text[]
language sql stable set search_path = pg_catalog, pg_temp as $$
  select array_remove(array[
           case when k.pruning is not null then 'it is said to be pruned, and no pruning of its day took it' end,
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
   where k.walk_id = walk and not daywalk.was_pruned(k)
$$;
comment on function daywalk.check_walk is 'Tells what of a walk does not add up.';

-- For the auditor: records of a day that the views of a resource leave out though no other stream shows them, or the other way
-- round, by page.
create function daywalk.check_shared(of_resource text, on_day date) returns table (stream text, walk_id bigint, page_no integer, records bigint)
language sql stable set search_path = pg_catalog, pg_temp as $$
  with walk as materialized (
    select s.name as stream, k.walk_id, k.shared
      from daywalk.windows_of_day(of_resource, on_day) as w
      join daywalk.streams s on s.stream_id = w.stream_id
      join daywalk.walks k on k.window_id = w.window_id and k.shown <> 'no' and k.pruning is null
  ), said as materialized (
    select x.walk_id, x.page_no, x.place from daywalk.shared_records x where x.walk_id in (select walk.walk_id from walk where walk.shared)
  ), found as materialized (
    select c.walk_id, c.page_no, c.place from daywalk.shared_copies(of_resource, on_day) as c
  )
  select walk.stream, walk.walk_id, wrong.page_no, count(*)
    from ((table said except table found) union all (table found except table said)) as wrong join walk on walk.walk_id = wrong.walk_id
   group by walk.stream, walk.walk_id, wrong.page_no order by walk.walk_id, wrong.page_no
$$;
comment on function daywalk.check_shared is 'Records of a day that the views of a resource wrongly leave out, or show twice, by page.';
