-- Pruning: what is older than a person wants to keep goes, and what is said about it stays. Windows, walks, seals,
-- overlaps and the ledger keep their rows, so that the chain of the ledger can be recomputed; the pages go, with kept
-- bytes and all. docs/decisions/0015-what-pruning-leaves.md tells why.

-- Marks a day, or its superseded walks, as pruned; the pages are removed afterwards, some at a time. It is what readers
-- see that is decided here, so all of it is looked at again under the locks: shown_walks and shown_overlaps are what the
-- person, or the export, saw. Returns pruned, held (a worker has to do with the day, or it is not complete), changed
-- (published anew since) or unsealed (not in the ledger yet).
create function daywalk.mark_pruned(of_stream integer, on_day date, which text, shown_walks bigint[], shown_overlaps bytea)
returns text
language plpgsql as $$
declare
  windows bigint;
  free bigint;
  gone bigint[];
  made bigint;
begin
  select count(*) into windows from daywalk.windows where stream_id = of_stream and day = on_day;
  -- Without waiting: a worker that publishes holds its window and waits for the lock below.
  perform from daywalk.windows where stream_id = of_stream and day = on_day for update skip locked;
  get diagnostics free = row_count;
  if free < windows then return 'held'; end if;
  perform pg_advisory_xact_lock(hashtext('daywalk.show_window'), of_stream);
  if exists (select from daywalk.prunings where stream_id = of_stream and day = on_day and what = 'day') then
    return 'pruned';
  end if;
  if windows = 0 or exists (select from daywalk.windows
                             where stream_id = of_stream and day = on_day
                               and (state not in ('complete', 'split') or lease_id is not null or current_walk is not null or rewalk)) then
    return 'held';
  end if;
  if shown_overlaps <> daywalk.overlaps_digest(shown_walks)
     or shown_walks <> (select d.walks from daywalk.published_days d where d.stream_id = of_stream and d.day = on_day) then
    return 'changed';
  end if;
  if exists (select from daywalk.ledger_due where stream_id = of_stream and day = on_day) then return 'unsealed'; end if;
  select array_agg(walk_id order by walk_id) into gone from daywalk.prunable_walks(of_stream, on_day, which);
  if gone is null then return 'pruned'; end if;
  insert into daywalk.prunings (stream_id, day, what, walks, pages, records, bytes)
  select of_stream, on_day, which, gone, sum(pages), sum(records), sum(bytes) from daywalk.walks where walk_id = any (gone)
  returning pruning_id into made;
  update daywalk.walks set pruning = made where walk_id = any (gone);
  if which = 'day' then
    update daywalk.windows set due_at = null where stream_id = of_stream and day = on_day and due_at is not null;
    update daywalk.days set records = 0, pages = 0, bytes = 0, proof = null where stream_id = of_stream and day = on_day;
  end if;
  return 'pruned';
end $$;

-- The walks that go with a day; or those of a day that are not shown, and that nothing shown refers to.
create function daywalk.prunable_walks(of_stream integer, on_day date, which text) returns setof daywalk.walks
language sql stable as $$
  select k.*
    from daywalk.windows w join daywalk.walks k on k.window_id = w.window_id
   where w.stream_id = of_stream and w.day = on_day and k.pruning is null
     and (which = 'day'
          or (not k.published and k.outcome is not null and k.pages > 0
              and not exists (select from daywalk.walks x
                               where x.window_id = k.window_id and x.published
                                 and (x.proof ->> 'nextDay' = k.walk_id::text or x.proof -> 'unites' @> to_jsonb(k.walk_id)))))
$$;

-- Empties the partition of a month at once, if nothing that is kept has pages in it, and gives its space back. False:
-- something has, or somebody reads it for longer than the wait; its rows are deleted then. It is not dropped, because
-- that would lock all of daywalk.pages, and a worker may be about to store a page of the month.
create function daywalk.empty_month(month date) returns boolean
language plpgsql as $$
declare
  partition text := 'pages_' || to_char(month, 'YYYY_MM');
begin
  if to_regclass('daywalk.' || partition) is null then return false; end if;
  if exists (select from daywalk.walks where day >= month and day < month + interval '1 month' and pages > 0 and pruning is null) then
    return false;
  end if;
  perform set_config('lock_timeout', '2s', true);
  execute format('lock table daywalk.%I in access exclusive mode', partition);
  -- Again: a page may have come before the lock.
  if exists (select from daywalk.walks where day >= month and day < month + interval '1 month' and pages > 0 and pruning is null) then
    return false;
  end if;
  execute format('truncate table daywalk.%I', partition);
  return true;
exception when lock_not_available then
  return false;
end $$;
