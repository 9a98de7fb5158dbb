-- Roles: what a worker and a reader need, and nothing else. The owner of the schema gives it with one statement each, and
-- again after an upgrade that brought new tables; docs/roles.md tells how.

-- By default anybody may run a function, and ensure_partition runs with the rights of its owner.
revoke all on schema daywalk from public;
revoke execute on all routines in schema daywalk from public;

-- What every role may: nothing yet. Whatever it was given before is taken back, so that the last statement counts.
create function daywalk.begin_rights(role name) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if pg_has_role(role, (select n.nspowner from pg_namespace n where n.nspname = 'daywalk'), 'member') then
    raise invalid_parameter_value using message = format('%I has the rights of the owner of daywalk and needs no others', role),
      hint = 'Give a role that is not the owner: docs/roles.md tells how to make one.';
  end if;
  -- Functions that came after this one, too.
  execute format('revoke execute on all routines in schema daywalk from public, %I', role);
  execute format('revoke all on all tables in schema daywalk from %I', role);
  execute format('grant usage on schema daywalk to %I', role);
end $$;

-- An auditor reads all tables and views, raw pages among them, and writes nothing: for whoever checks the ledger, and for a served
-- archive, which needs no more.
create function daywalk.let_audit(role name) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform daywalk.begin_rights(role);
  execute (
    select format('grant select on %s to %I', string_agg(c.oid::regclass::text, ', '), role)
      from pg_class c where c.relnamespace = 'daywalk'::regnamespace and c.relkind in ('r', 'p', 'v') and not c.relispartition);
  -- What writes does so with the rights of whoever calls it, but for a few functions of the owner's.
  execute (
    select format('grant execute on routine %s to %I', string_agg(p.oid::regprocedure::text, ', '), role)
      from pg_proc p
     where p.pronamespace = 'daywalk'::regnamespace and (not p.prosecdef or p.provolatile <> 'v')
       and p.proname not in ('begin_rights', 'let_audit', 'let_work', 'let_move', 'let_read'));
end $$;
comment on function daywalk.let_audit is 'Gives a role everything to read and nothing to write; run by the owner of the schema, again after an upgrade.';

-- A worker reads and writes rows; it removes only what several streams share and what was noted of the API. It may not delete or
-- prune pages, change the schema, or run what writes with the owner's rights, but for making the month's partition, dropping unwanted
-- days and keeping record tables in step.
create function daywalk.let_work(role name) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform daywalk.let_audit(role);
  execute format('grant insert on daywalk.pages, daywalk.seals, daywalk.ledger to %I', role);
  execute (
    select format('grant insert, update on %s to %I', string_agg(c.oid::regclass::text, ', '), role)
      from pg_class c
     where c.relnamespace = 'daywalk'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       -- What is believed of record tables is changed by their functions only.
       and c.relname not in ('pages', 'seals', 'ledger', 'migrations', 'prunings', 'tiered_days', 'record_tables', 'table_days', 'misfits')
       and c.relname not in (select daywalk.relation_of(t) from daywalk.record_tables t));
  execute format('grant delete on daywalk.shared_records, daywalk.learned, daywalk.contracts, daywalk.frames, daywalk.refused_keys to %I', role);
  execute (
    select format('grant execute on routine %s to %I', string_agg(p.oid::regprocedure::text, ', '), role)
      from pg_proc p
     where p.pronamespace = 'daywalk'::regnamespace
       and p.proname = any (array['ensure_partition', 'show_stream', 'ensure_table_partition', 'begin_table_day', 'fill_table_day', 'end_table_day',
                                  'drop_table_day', 'retime_tables', 'keep_pruned_day', 'swap_table', 'drop_unwanted_days']));
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

-- A reader selects from the views and record tables, and from nothing else; and calls the functions that read what the views show.
create function daywalk.let_read(role name) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform daywalk.begin_rights(role);
  execute (
    select format('grant select on %s to %I', string_agg(c.oid::regclass::text, ', '), role)
      from pg_class c
     where c.relnamespace = 'daywalk'::regnamespace
       and (c.relkind = 'v' or c.relname in (select daywalk.relation_of(t) from daywalk.record_tables t)));
  -- A view calls its functions with the rights of whoever reads it.
  execute (
    select format('grant execute on routine %s to %I', string_agg(p.oid::regprocedure::text, ', '), role)
      from pg_proc p
     where p.pronamespace = 'daywalk'::regnamespace
       and (p.proname in ('require_complete', 'search')
            or p.provolatile <> 'v'
           and exists (select from pg_class c
                         join pg_rewrite r on r.ev_class = c.oid
                         join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid and d.refclassid = 'pg_proc'::regclass
                        where c.relnamespace = 'daywalk'::regnamespace and c.relkind = 'v' and d.refobjid = p.oid)));
end $$;
comment on function daywalk.let_read is 'Gives a role the views to read; run by the owner of the schema, again after an upgrade.';

revoke execute on all routines in schema daywalk from public;
