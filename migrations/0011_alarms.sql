-- What was last told to people about the export, so that a restart or another worker does not tell it again.
create table daywalk.alarms (
  streams       text[] primary key,
  failing       boolean not null,
  problem       text,
  failing_since timestamptz,
  told_failing  boolean not null default false,
  told_at       timestamptz,
  telling_until timestamptz
);

comment on table daywalk.alarms is 'Whether the export of a set of streams fails, and what the webhook was last told about it.';
comment on column daywalk.alarms.streams is 'The streams of the settings, sorted.';
comment on column daywalk.alarms.failing is 'How the newest run found it.';
comment on column daywalk.alarms.problem is 'What was wrong then.';
comment on column daywalk.alarms.failing_since is 'When it began to fail the last time.';
comment on column daywalk.alarms.told_failing is 'What was last told: failing, or not.';
comment on column daywalk.alarms.told_at is 'When.';
comment on column daywalk.alarms.telling_until is 'A process is telling it now; after this another one may.';
