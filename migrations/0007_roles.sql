-- Roles: what a worker and a reader need, and nothing else. The owner of the schema gives it with one statement each, and
-- again after an upgrade that brought new tables; docs/roles.md tells how.

-- By default anybody may run a function, and ensure_partition runs with the rights of its owner.
revoke all on schema daywalk from public;
revoke execute on all routines in schema daywalk from public;

-- A worker reads and writes rows; it removes only marks of single records and what was
-- noted of the API. It may not
-- delete or prune pages, change the schema, or run what writes with the owner's rights, but for making the month's partition.
create function daywalk.let_work(role name) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  own record;
begin
  -- Functions that came after this one, too.
  revoke execute on all routines in schema daywalk from public;
  execute format('grant usage on schema daywalk to %I', role);
  for own in
    select c.relname, c.relkind from pg_class c
     where c.relnamespace = 'daywalk'::regnamespace and c.relkind in ('r', 'p', 'v') and not c.relispartition
  loop
    execute format('grant select on daywalk.%I to %I', own.relname, role);
    if own.relkind <> 'v' and own.relname <> 'migrations'
       and own.relname not in (select daywalk.relation_of(t) from daywalk.record_tables t) then
      execute format('grant insert, update on daywalk.%I to %I', own.relname, role);
    end if;
  end loop;
  execute format('grant delete on daywalk.marks, daywalk.learned, daywalk.contracts, daywalk.frames, daywalk.refused_keys to %I', role);
  execute format('revoke update on daywalk.pages, daywalk.seals, daywalk.ledger from %I', role);
  execute format('revoke insert, update on daywalk.prunings, daywalk.tiered_days from %I', role);
  -- What is believed of record tables is changed by their functions only.
  execute format('revoke insert, update on daywalk.record_tables, daywalk.table_days, daywalk.misfits from %I', role);
  for own in
    select p.oid::regprocedure as signature from pg_proc p
     where p.pronamespace = 'daywalk'::regnamespace
       and (not p.prosecdef or p.provolatile <> 'v' or p.proname = any (array['ensure_partition', 'show_stream', 'ensure_table_partition', 'begin_table_day', 'fill_table_day', 'end_table_day',
                                                                                 'drop_table_day', 'swap_table']))
       and p.proname not in ('let_work', 'let_read', 'let_move')
  loop
    execute format('grant execute on routine %s to %I', own.signature, role);
  end loop;
end $$;
comment on function daywalk.let_work is 'Gives a role what a worker needs; run by the owner of the schema, again after an upgrade.';

-- A worker that moves old days to a folder or bucket removes their pages, too: whoever has this may remove any.
create function daywalk.let_move(role name) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform daywalk.let_work(role);
  execute format('grant insert, update, delete on daywalk.prunings, daywalk.tiered_days to %I', role);
  execute format('grant delete on daywalk.pages, daywalk.page_filters to %I', role);
  execute format('grant execute on function daywalk.empty_month(date) to %I', role);
end $$;
comment on function daywalk.let_move is 'Gives a role what a worker needs that moves old days; run by the owner of the schema, again after an upgrade.';

-- A reader selects from the views, which show published walks only, and from nothing else; and calls the functions that read
-- what the views show.
create function daywalk.let_read(role name) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  own record;
begin
  -- Functions that came after this one, too.
  revoke execute on all routines in schema daywalk from public;
  execute format('grant usage on schema daywalk to %I', role);
  for own in
    select c.relname from pg_class c
     where c.relnamespace = 'daywalk'::regnamespace
       and (c.relkind = 'v' or c.relname in (select daywalk.relation_of(t) from daywalk.record_tables t))
  loop
    execute format('grant select on daywalk.%I to %I', own.relname, role);
  end loop;
  -- A view calls its functions with the rights of whoever reads it.
  for own in
    select distinct p.oid::regprocedure as signature
      from pg_class c
      join pg_rewrite r on r.ev_class = c.oid
      join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid and d.refclassid = 'pg_proc'::regclass
      join pg_proc p on p.oid = d.refobjid
     where c.relnamespace = 'daywalk'::regnamespace and c.relkind = 'v'
       and p.pronamespace = 'daywalk'::regnamespace and p.provolatile <> 'v'
  loop
    execute format('grant execute on routine %s to %I', own.signature, role);
  end loop;
  for own in
    select p.oid::regprocedure as signature from pg_proc p
     where p.pronamespace = 'daywalk'::regnamespace and p.proname in ('require_complete', 'search')
  loop
    execute format('grant execute on routine %s to %I', own.signature, role);
  end loop;
end $$;
comment on function daywalk.let_read is 'Gives a role the views to read; run by the owner of the schema, again after an upgrade.';

revoke execute on function daywalk.let_work(name), daywalk.let_move(name), daywalk.let_read(name) from public;
