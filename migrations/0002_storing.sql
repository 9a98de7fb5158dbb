-- Storing: what Postgres reads in a page while it parses it, and the commit of the page (I1, I2, I3, I5). Kept plans,
-- because planning such statements anew for each page takes longer than executing them for a small one.

-- What an answer holds: the JSON type in the place of the list, its records, the total, the word that qualifies it, a
-- non-empty error at its top, and a hash of each record in order.
create function daywalk.read_page(body jsonb, records_path text[], total_path text[], relation_path text[])
returns table (list_type text, records integer, total bigint, relation text, complaint text, hashes bigint[])
language sql immutable parallel safe as $$
  select jsonb_typeof(list), case when jsonb_typeof(list) = 'array' then jsonb_array_length(list) end,
         case when total ~ '^[0-9]{1,15}$' then total::bigint end, relation, complaint,
         array(select jsonb_hash_extended(list -> i, 0)
                 from generate_series(0, case when jsonb_typeof(list) = 'array' then jsonb_array_length(list) end - 1) as i
                order by i)
    from (select body #> records_path as list, body #>> total_path as total, body #>> relation_path as relation,
                 case when jsonb_typeof(body) <> 'object' then null
                      when coalesce(body -> 'error', 'null') not in ('null', 'false', '""', '0', '[]', '{}') then left(body ->> 'error', 200)
                      when coalesce(body -> 'errors', 'null') not in ('null', 'false', '""', '0', '[]', '{}') then left(body ->> 'errors', 200)
                      when body -> 'success' = 'false' then 'success is false'
                      when body -> 'timed_out' = 'true' then 'timed_out is true: a partial result'
                 end as complaint
          offset 0) as found
$$;

-- Commits a page: counts it, fences it by lease and checkpoint, moves the checkpoint and stores it, all or nothing.
-- continues: its first record is the last one stored, where that was asked for again (skip_first = 1);
-- fits: the list is where it was on the pages before; digest: equal for pages with equal records in equal order.
-- A procedure, because a call is not planned either, and planning copies the page.
create procedure daywalk.store_page(
  target bigint, lease uuid, ttl_ms double precision, walk bigint, at_start bigint, at_page integer, skip_first integer,
  list_at text[], total_at text[], relation_at text[], asked_length integer, took_ms integer, took_requests integer,
  received_bytes integer, received_sha256 bytea, kept_bytes bytea, changed jsonb, content jsonb,
  out records integer, out list_type text, out total bigint, out relation text, out complaint text,
  out continues boolean, out fits boolean, out digest text, out stored boolean)
language plpgsql set plan_cache_mode = force_generic_plan as $$
declare
  hashes bigint[];
  its_day date;
begin
  select f.records - skip_first, f.list_type, f.total, f.relation, f.complaint, f.hashes
    into records, list_type, total, relation, complaint, hashes
    from daywalk.read_page(content, list_at, total_at, relation_at) as f;
  digest := hash_array_extended(hashes, 0);
  select coalesce(k.records_path = list_at, true),
         skip_first = 0 or hashes[1] is not distinct from
           (select p.record_hashes[cardinality(p.record_hashes)]
              from daywalk.pages p
             where p.walk_id = walk and p.day = k.day and p.records > 0 and p.page_no < at_page
             order by p.page_no desc limit 1)
    into fits, continues
    from daywalk.walks k where k.walk_id = walk;
  stored := false;
  -- After a failover to a standby that never had it the walk is gone, and the lease with it.
  if not found then fits := true; continues := true; return; end if;
  if records is null or complaint is not null or not continues or not fits then return; end if;

  update daywalk.windows w
     set lease_expires = clock_timestamp() + make_interval(secs => ttl_ms / 1000), attempts = 0
   where w.window_id = target and w.lease_id = lease and w.current_walk = walk
     and exists (select from daywalk.walks k where k.walk_id = walk and k.next_start = at_start and k.pages = at_page);
  if not found then return; end if;
  update daywalk.walks k
     set next_start = k.next_start + store_page.records,
         pages = k.pages + 1,
         bytes = k.bytes + received_bytes,
         requests = k.requests + took_requests,
         first_total = case when k.pages = 0 then store_page.total else k.first_total end,
         last_total = store_page.total,
         records_path = list_at, total_path = total_at, relation_path = relation_at
   where k.walk_id = walk and k.window_id = target and k.outcome is null
     and k.next_start = at_start and k.pages = at_page
     and (k.records_path is null or k.records_path = list_at)
  returning k.day into its_day;
  if not found then return; end if;
  insert into daywalk.pages (walk_id, page_no, day, start, length, skip, records, total, relation, body,
                             bytes, changes, record_hashes, sha256, byte_count, fetched_at, duration_ms)
  values (walk, at_page, its_day, at_start - skip_first, asked_length, skip_first, store_page.records, store_page.total,
          store_page.relation, content, kept_bytes, changed, hashes[skip_first + 1 :], received_sha256, received_bytes,
          clock_timestamp(), took_ms);
  stored := true;
end $$;
