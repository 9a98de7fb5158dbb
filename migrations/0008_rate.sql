-- The budget of requests that the workers of this database share (setting rate): one row for each API, by the clock of
-- the database. A worker moves next_slot on by as many slots as it takes, in one statement.

create table daywalk.rates (
  origin    text primary key,
  next_slot timestamptz not null
) with (fillfactor = 50);

comment on table daywalk.rates is 'When the next request to an API may go, where the setting rate is set; the workers take slots from here.';
comment on column daywalk.rates.origin is 'Scheme, host and port of the API.';
comment on column daywalk.rates.next_slot is 'The first instant that no worker has taken yet; it may be past.';
