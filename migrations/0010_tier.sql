-- The tier: a day that is complete, looked at for the last time, in the ledger and old moves to a folder or bucket
-- (docs/tier.md). What is written there is checked before anything here changes; then one statement says that the day is there
-- and not here. For the pages it is a pruning, and they are removed as after one. What is hidden beside the day stays hidden,
-- because the day still shows it.

-- Whether a midnight of a day takes away what the day on its other side would show, too, and that one is planned and not shown yet, or
-- looked at still: which of the two hides it, and in which version, is found out when both are here.
create function daywalk.waits_for_neighbour(of_stream integer, on_day date) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
  select exists (select from daywalk.windows cut
                   join daywalk.windows beside on beside.stream_id = of_stream and beside.kind = 'day'
                    and beside.day = case when cut.midnight = on_day then on_day + 1 else on_day - 1 end
                  where cut.stream_id = of_stream and cut.midnight in (on_day - 1, on_day)
                    and (cut.proof ->> 'removed')::bigint > 0
                    and not (beside.due_at is null
                             and exists (select from daywalk.walks k where k.window_id in (select daywalk.subtree(beside.window_id)) and k.shown <> 'no')))
$$;

-- What a midnight takes away, each record as often, if the day beside it was never shown: what it hides of that day, should it
-- be walked while the other one is in the tier, is not to be found out then.
create function daywalk.twins_for(of_stream integer, at_midnight date, beside date) returns bigint[]
language sql stable set search_path = pg_catalog, pg_temp as $$
  select array_agg(taken.hash)
    from daywalk.windows cut
   cross join lateral daywalk.proven_counts(cut.window_id, daywalk.ignored_now(cut.window_id)) as taken
   cross join lateral generate_series(1, -taken.correction) as copy
   where cut.stream_id = of_stream and cut.midnight = at_midnight and (cut.proof ->> 'removed')::bigint > 0
     and not exists (select from daywalk.windows w join daywalk.walks k on k.window_id in (select daywalk.subtree(w.window_id))
                      where w.stream_id = of_stream and w.day = beside and w.kind = 'day' and k.shown <> 'no')
$$;

-- Says that a day is in the objects that described tells of (a row of daywalk.tiered_days), if it is still what was written:
-- the same publication, the same walks shown, and of all its walks the same pages. Returns tiered; what daywalk.mark_pruned
-- says, but pruned: somebody has pruned it meanwhile; changed; or held. May be repeated.
create function daywalk.mark_tiered(described jsonb, shown_walks bigint[], shown_marks bytea, going bigint[], going_pages bigint) returns text
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  moved daywalk.tiered_days := jsonb_populate_record(null::daywalk.tiered_days, described);
  before daywalk.days;
  said text;
begin
  perform daywalk.lock_stream(moved.stream_id);
  perform from daywalk.windows w where w.stream_id = moved.stream_id and w.day = moved.day order by w.window_id for update;
  if exists (select from daywalk.tiered_days t where t.stream_id = moved.stream_id and t.day = moved.day) then return 'tiered'; end if;
  if exists (select from daywalk.prunings g where g.stream_id = moved.stream_id and g.day = moved.day and g.what = 'day') then return 'pruned'; end if;
  -- A look, or a wish to walk it again, would be lost.
  if exists (select from daywalk.windows w where w.stream_id = moved.stream_id and w.day = moved.day and (w.rewalk or w.due_at is not null)) then
    return 'held';
  end if;
  if daywalk.waits_for_neighbour(moved.stream_id, moved.day) then return 'held'; end if;
  if moved.publication is distinct from (select d.publication from daywalk.days d where d.stream_id = moved.stream_id and d.day = moved.day)
     or not exists (select from (select array_agg(k.walk_id order by k.walk_id) as walks, sum(k.pages) as pages
                                   from daywalk.prunable_walks(moved.stream_id, moved.day, 'day') as k) as now
                     where now.walks = going and now.pages = going_pages) then
    return 'changed';
  end if;
  select * into before from daywalk.days d where d.stream_id = moved.stream_id and d.day = moved.day;
  moved.twins_before := daywalk.twins_for(moved.stream_id, moved.day - 1, moved.day - 1);
  moved.twins_behind := daywalk.twins_for(moved.stream_id, moved.day, moved.day + 1);
  insert into daywalk.tiered_days select moved.*;
  said := daywalk.mark_pruned(moved.stream_id, moved.day, 'day', shown_walks, shown_marks);
  if said = 'pruned' then
    -- What it shows it shows still, though not here.
    update daywalk.days d set records = before.records, gone = before.gone, lost = before.lost, proof = before.proof
     where d.stream_id = moved.stream_id and d.day = moved.day;
    return 'tiered';
  end if;
  delete from daywalk.tiered_days t where t.stream_id = moved.stream_id and t.day = moved.day;
  return said;
end $$;

-- Whether a page is what was sealed; null: it was not sealed, because nothing of its walk was ever shown.
create function daywalk.matches_seal(p daywalk.pages) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
  select s.digest = daywalk.page_digest(p, daywalk.body_digest((p).body))
    from daywalk.seals s where s.walk_id = (p).walk_id and s.page_no = (p).page_no
$$;

-- The records of a page whose day moved that were shown, as the file of the day has them. What was marked of them stays as it was.
create function daywalk.shown_of(p daywalk.pages) returns text[]
language sql stable set search_path = pg_catalog, pg_temp as $$
  select array(select r.record::text
                 from daywalk.walks k
                cross join lateral jsonb_array_elements(case jsonb_typeof(p.body #> k.records_path) when 'array' then p.body #> k.records_path else '[]' end)
                           with ordinality as r (record, position)
                 left join daywalk.marks mark on mark.walk_id = p.walk_id and mark.page_no = p.page_no and mark.position = r.position - p.skip
                where k.walk_id = p.walk_id and k.shown <> 'no' and r.position > p.skip and coalesce(mark.seen, k.shown = 'whole')
                order by r.position)
$$;

-- Puts a page back whose day moved; nobody sees it before the day is restored. False: it is not what was sealed.
create function daywalk.put_back(p daywalk.pages) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if daywalk.matches_seal(p) is false then return false; end if;
  -- Somebody may have dropped the partition of a month that was empty.
  perform daywalk.ensure_partition(p.day);
  -- An attempt that read a changed object may have left another one, where there is no seal that tells.
  delete from daywalk.pages q where q.day = p.day and q.walk_id = p.walk_id and q.page_no = p.page_no and q is distinct from p;
  insert into daywalk.pages select p.* on conflict do nothing;
  return true;
end $$;

-- Says that a day is here again, once all its pages are: from then on it is shown as it was. It is looked at again as a day of
-- its age is that was just found as it is stored. Returns restored; or lacking: not all of them are here. May be repeated.
create function daywalk.restore_day(of_stream integer, on_day date, recheck_days integer) returns text
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  at constant timestamptz := clock_timestamp();
  pruned daywalk.prunings;
  here bigint[];
  replaced daywalk.marks[];
  shown date[];
  hidden date[];
begin
  perform daywalk.lock_stream(of_stream);
  perform from daywalk.windows where stream_id = of_stream and day = on_day order by window_id for update;
  if not exists (select from daywalk.tiered_days t where t.stream_id = of_stream and t.day = on_day) then return 'restored'; end if;
  -- Whoever removes its pages just now is waited for, and removes none any more.
  select * into strict pruned from daywalk.prunings g where g.stream_id = of_stream and g.day = on_day and g.what = 'day' for update;
  if exists (select from daywalk.walks k
              cross join lateral (select count(*) as pages, coalesce(sum(p.records), 0)::bigint as records, coalesce(sum(p.byte_count), 0)::bigint as bytes
                                    from daywalk.pages p where p.walk_id = k.walk_id and p.day = k.day) as p
              where k.walk_id = any (pruned.walks) and (p.pages, p.records, p.bytes) <> (k.pages, k.records, k.bytes)) then
    return 'lacking';
  end if;
  replaced := array(select mark
                      from daywalk.marks mark
                      join daywalk.walks k on k.walk_id = mark.walk_id
                      join daywalk.streams s on s.stream_id = of_stream
                     where mark.walk_id = any (pruned.walks) and mark.state = 'old'
                       and (k.id_path is distinct from s.id_path
                            or exists (select from daywalk.prunings g
                                        where g.stream_id = of_stream and g.what = 'day' and g.pruning_id > pruned.pruning_id
                                          and not exists (select from daywalk.tiered_days t where t.stream_id = of_stream and t.day = g.day))));
  update daywalk.walks set pruning = null where pruning = pruned.pruning_id;
  delete from daywalk.tiered_days where stream_id = of_stream and day = on_day;
  delete from daywalk.prunings where pruning_id = pruned.pruning_id;
  update daywalk.windows w set due_at = daywalk.next_look(daywalk.closed_at(on_day, s.time_zone, s.settle), recheck_days)
    from daywalk.streams s
   where s.stream_id = of_stream and w.stream_id = of_stream and w.day = on_day and w.state = 'complete'
     and not coalesce((select p.split_calibrated from daywalk.windows p where p.window_id = w.split_from), false)
     and not exists (select from daywalk.days d where d.stream_id = of_stream and d.day = on_day and d.retired_since is not null);
  here := array(select window_id from daywalk.windows where stream_id = of_stream and day = on_day);
  -- What was gone when it moved may stand on another day by now, and what is gone elsewhere on this one.
  hidden := array(select daywalk.replace_gone(of_stream, here, null, at)) || array(select daywalk.replace_gone(of_stream, null, here, at));
  hidden := array_remove(hidden, on_day);
  -- What a neighbour hides, or does not, may have changed where that was pruned meanwhile.
  perform daywalk.note_with_neighbours(of_stream, on_day, at);
  -- What it hides as an older version may be none by what identifies its records now, or one of what was pruned meanwhile.
  if replaced <> '{}' then shown := array(select daywalk.show_again(of_stream, replaced, at)); end if;
  perform daywalk.note_identified(of_stream, shown, hidden, at);
  -- What was noted above stays so also where a midnight of the day is to be proven before it is due.
  update daywalk.days set restored_at = at,
                          unsealed = exists (select from daywalk.ledger_due l where l.stream_id = of_stream and l.day = on_day)
                                     or unsealed and not exists (select from daywalk.shown_days d where d.stream_id = of_stream and d.day = on_day)
   where stream_id = of_stream and day = on_day;
  return 'restored';
end $$;

-- Of all tables and views that are there by now.
select daywalk.explain_columns(c.relname)
  from pg_class c where c.relnamespace = 'daywalk'::regnamespace and c.relkind in ('r', 'p', 'v') and not c.relispartition;

revoke execute on all routines in schema daywalk from public;
