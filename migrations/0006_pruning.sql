-- Pruning: what is older than a person wants to keep goes, and what is said about it stays. Windows, walks, seals,
-- marks and the ledger keep their rows, so that the chain of the ledger can be recomputed; the pages go, with kept
-- bytes and all. docs/decisions/0015-what-pruning-leaves.md tells why.

-- Notes a day whose pages went or came back, and the neighbours for which it is no twin any more, or one again.
create function daywalk.note_with_neighbours(of_stream integer, on_day date, at timestamptz) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform daywalk.note_day(of_stream, d.day, at, 0, 0)
     from (select on_day as day
            union
           select daywalk.hide_twins(cut.window_id, at) from daywalk.windows cut
            where cut.stream_id = of_stream and cut.proof is not null and cut.midnight in (on_day - 1, on_day)) as d;
end $$;

-- What other days hide as an older version of a record that this one shows. One that moves shows it still, though not here.
create function daywalk.replaced_by(of_stream integer, on_day date) returns setof daywalk.marks
language sql stable set search_path = pg_catalog, pg_temp as $$
  select mark.*
    from daywalk.superseded(of_stream, 'old', null, array(select w.window_id from daywalk.windows w where w.stream_id = of_stream and w.day = on_day)) as s
    join daywalk.marks mark on mark.walk_id = s.walk_id and mark.page_no = s.page_no and mark.position = s.position
   where mark.day <> on_day
     and not exists (select from daywalk.tiered_days t where t.stream_id = of_stream and t.day = on_day)
$$;

-- Marks a day, or its superseded walks, as pruned; the pages are removed afterwards, some at a time. It is what readers
-- see that is decided here, so all of it is looked at again under the locks: shown_walks and shown_marks are what the
-- person, or the export, saw. Returns pruned, held (a worker has to do with the day, or it is not complete), changed
-- (something else is shown since), unsealed (not in the ledger yet) or wanted (a record table that outlives the pages lacks it).
create function daywalk.mark_pruned(of_stream integer, on_day date, which text, shown_walks bigint[], shown_marks bytea)
returns text
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  at constant timestamptz := clock_timestamp();
  gone bigint[];
  made bigint;
  replaced daywalk.marks[];
begin
  perform daywalk.lock_stream(of_stream);
  -- A worker that stores a page holds its window for a moment only.
  perform from daywalk.windows where stream_id = of_stream and day = on_day order by window_id for update;
  if exists (select from daywalk.prunings where stream_id = of_stream and day = on_day and what = 'day') then
    return 'pruned';
  end if;
  if not exists (select from daywalk.shown_days where stream_id = of_stream and day = on_day)
     or exists (select from daywalk.windows where stream_id = of_stream and day = on_day and lease_expires > clock_timestamp()) then
    return 'held';
  end if;
  if shown_marks <> daywalk.marks_digest(shown_walks)
     or shown_walks <> (select d.walks from daywalk.shown_days d where d.stream_id = of_stream and d.day = on_day) then
    return 'changed';
  end if;
  if exists (select from daywalk.ledger_due where stream_id = of_stream and day = on_day) then return 'unsealed'; end if;
  -- As daywalk.table_work says it, of this day only: that looks at all days of the stream.
  if which = 'day'
     and exists (select from daywalk.days d
                   join daywalk.streams s on s.stream_id = d.stream_id
                   join daywalk.record_tables t on t.stream = s.name and t.outlives
                   left join daywalk.table_days y on y.table_id = t.table_id and y.day = d.day
                  where d.stream_id = of_stream and d.day = on_day and y.publication is distinct from d.publication
                    and coalesce(daywalk.closed_at(d.day, s.time_zone, s.settle) + t.retention > at, true)) then
    return 'wanted';
  end if;
  -- What a killed worker left is not gone on with.
  perform daywalk.end_open_walk(w.current_walk, 'its window was pruned') from daywalk.windows w where w.stream_id = of_stream and w.day = on_day;
  update daywalk.windows set current_walk = null, lease_id = null, lease_owner = null, lease_expires = null
   where stream_id = of_stream and day = on_day and (current_walk is not null or lease_id is not null);
  select array_agg(walk_id order by walk_id) into gone from daywalk.prunable_walks(of_stream, on_day, which);
  if gone is null then return 'pruned'; end if;
  insert into daywalk.prunings (stream_id, day, what, walks, pages, records, bytes)
  -- Of a day what was shown: walks that were evidence only hold the same records.
  select of_stream, on_day, which, gone, coalesce(max(d.pages), sum(k.pages)), coalesce(max(d.records), sum(k.records)), coalesce(max(d.bytes), sum(k.bytes))
    from daywalk.walks k
    left join (select pages, records, bytes from daywalk.days where which = 'day' and stream_id = of_stream and day = on_day) as d on true
   where k.walk_id = any (gone)
  returning pruning_id into made;
  if which = 'day' then
    replaced := array(select daywalk.replaced_by(of_stream, on_day));
    update daywalk.prunings set twins_before = daywalk.twins_for(of_stream, on_day - 1, on_day - 1), twins_behind = daywalk.twins_for(of_stream, on_day, on_day + 1)
     where pruning_id = made and not exists (select from daywalk.tiered_days t where t.stream_id = of_stream and t.day = on_day);
  end if;
  update daywalk.walks set pruning = made where walk_id = any (gone);
  if which = 'day' then
    update daywalk.windows set due_at = null, rewalk = false where stream_id = of_stream and day = on_day;
    -- What a neighbour hid because this day showed it comes back there.
    perform daywalk.note_with_neighbours(of_stream, on_day, at);
    -- So does what other days hid because this one showed a newer version of it.
    if replaced <> '{}' then perform daywalk.note_identified(of_stream, array(select daywalk.show_again(of_stream, replaced, at, on_day)), '{}', at); end if;
    update daywalk.days set proof = null, unsealed = false where stream_id = of_stream and day = on_day;
  end if;
  return 'pruned';
end $$;

-- The walks that go with a day: those whose pages are kept by it. The midnight before it may be a window of the day before by now. Or
-- those of a day none of whose records are shown, and that no newest proof rests on, nor the next one will: the next walk is compared with
-- that. What was ever found at a midnight says how often its records are seen there.
create function daywalk.prunable_walks(of_stream integer, on_day date, which text) returns setof daywalk.walks
language sql stable set search_path = pg_catalog, pg_temp as $$
  select k.*
    from daywalk.windows w join daywalk.walks k on k.window_id = w.window_id
   where w.stream_id = of_stream and (w.day = on_day or w.midnight = on_day - 1) and k.day = on_day and k.pruning is null
     and (which = 'day'
          or (k.outcome is not null and k.pages > 0
              and k.shown = 'no'
              and (w.state = 'replaced' or k.number <= w.judged)
              and not (w.midnight is not null and k.outcome = 'proven' and k.records > 0)
              and (w.state = 'replaced'
                   or coalesce(w.proof ->> 'walk' <> k.walk_id::text, true) and coalesce(w.proof ->> 'across' <> k.walk_id::text, true)
                  and coalesce(w.proof ->> 'before' <> k.walk_id::text, true) and coalesce(w.proof ->> 'after' <> k.walk_id::text, true)
                  and not coalesce(w.proof -> 'unites' @> to_jsonb(k.walk_id), false)
                  and not coalesce(w.proof -> 'halves' @> to_jsonb(k.walk_id), false))))
$$;

-- Empties the partition of a month at once, if nothing that is kept has pages in it, and gives its space back. False:
-- something has, or somebody reads it for longer than the wait; its rows are deleted then. It is not dropped, because
-- that would lock all of daywalk.pages, and a worker may be about to store a page of the month. Only its owner may empty a
-- table, so this runs with the owner's rights.
create function daywalk.empty_month(month date) returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  partition text := 'pages_' || to_char(month, 'YYYY_MM');
begin
  for time in 1..2 loop
    -- Somebody may have detached it to keep it, or begun to; a page may have come before the lock.
    if not exists (select from pg_inherits where inhrelid = to_regclass('daywalk.' || partition) and inhparent = 'daywalk.pages'::regclass
                                                  and not inhdetachpending)
       or exists (select from daywalk.walks where day >= month and day < month + interval '1 month' and pages > 0 and pruning is null) then
      return false;
    end if;
    if time = 1 then
      perform set_config('lock_timeout', '2s', true);
      execute format('lock table daywalk.%I in access exclusive mode', partition);
    end if;
  end loop;
  execute format('truncate table daywalk.%I', partition);
  return true;
exception when lock_not_available then
  return false;
end $$;
