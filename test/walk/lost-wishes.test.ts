/** That complete days are to be walked again is taken away by a failover, or met by a walk from before: the backfill that asked for it asks once more. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addDays, dayWindow, lastClosedDay } from '../../src/plan/days.ts';
import { askAgain, databaseNow, planWindows } from '../../src/store/windows.ts';
import { planScheduled } from '../../src/walk/run.ts';
import { OPTIONS } from '../support/exporter.ts';
import { andAtNight } from '../support/night.ts';
import { type SimulatedExport, simulateExport } from '../support/simulated-export.ts';

/** As the primary acknowledged it and the standby never saw it: the wish, and what was walked since. */
const LOSE = [
  `update daywalk.windows set rewalk = false, current_walk = null, due_at = clock_timestamp() + interval '1 hour',
          lease_id = null, lease_owner = null, lease_expires = null`,
  'delete from daywalk.pages p using daywalk.walks k where k.walk_id = p.walk_id and k.outcome is null',
  'delete from daywalk.walks where outcome is null',
];

let exported: SimulatedExport;
let loseAt = Number.POSITIVE_INFINITY;
/** When another process asked for the day: null: it is to do so in the middle of a walk. */
let asked: number | null = 0;
let requests = 0;

beforeAll(async () => {
  exported = await simulateExport({
    eventsPerDay: 250,
    respond: async () => {
      requests += 1;
      if (requests === loseAt) for (const sql of LOSE) await exported.server.query(sql);
      if (asked === null && (await isBegun())) {
        asked = await databaseNow(exported.database);
        await ask(null);
      }
      return undefined;
    },
  });
});
afterAll(() => exported.close());

/** The day, and not a cut beside it. */
const isBegun = async () =>
  (
    await exported.server.query(
      `select from daywalk.walks k join daywalk.windows w on w.window_id = k.window_id
        where k.outcome is null and k.pages > 0 and w.kind = 'day'`,
    )
  ).length > 0;

/** `daywalk backfill --only all` of another process: at its beginning (null), and at its end. */
async function ask(before: number | null): Promise<number> {
  const { database, server, day } = exported;
  const [stream] = await server.query<{ id: number }>(
    'select stream_id as id from daywalk.streams',
  );
  return askAgain(database, stream?.id ?? 0, [day], true, before);
}

async function again(): Promise<{ missing: number }> {
  requests = 0;
  await exported.again();
  const [row] = await exported.server.query<{ shown: number }>(
    'select count(*)::int as shown from daywalk.events_now',
  );
  const { day, api } = exported;
  const held = api.count({ from: `${day} 00:00:00`, to: `${day} 23:59:59` });
  return { missing: held - (row?.shown ?? 0) };
}

test.each(andAtNight([2], [1, 3]))(
  'lost at request %i: late records are found all the same (I4, I6)',
  async (at) => {
    exported.api.insert([
      JSON.stringify({ timestamp: `${exported.day}T10:00:0${at}.000Z`, late: at }),
    ]);
    loseAt = at;
    expect(await again()).toMatchObject({ missing: 0 });
  },
);

test('where nothing is lost nothing is asked for again', async () => {
  loseAt = Number.POSITIVE_INFINITY;
  const { database } = exported;
  const before = await databaseNow(database);
  expect(await again()).toMatchObject({ missing: 0 });
  expect(await ask(before)).toBe(0);
  // Asked for later than it was proven, all three windows would be due: the day, and the cuts at its ends.
  expect(await ask(await databaseNow(database))).toBe(3);
});

test('what another process had begun to walk when it was asked for is asked for again, as it may be of before', async () => {
  asked = null;
  await again();
  await ask(asked);
  // So may be a cut that was walked beside the day.
  expect(
    await exported.server.query(`select kind from daywalk.windows where rewalk and kind = 'day'`),
  ).toHaveLength(1);
});

test('the walks of a cut are gone when it is to be proven: it is walked again at once, and nothing fails (I4)', async () => {
  const { server } = exported;
  await server.query('create table public.lost (cut bigint primary key)');
  await server.query(
    'alter function daywalk.prove_cut(bigint, uuid, jsonb) rename to prove_cut_that_is_there',
  );
  await server.query(
    `create function daywalk.prove_cut(target bigint, lease uuid, evidence jsonb) returns text language plpgsql as $$
     begin
       insert into public.lost values (target) on conflict do nothing;
       if found then
         update daywalk.windows set current_walk = null where window_id = target;
         delete from daywalk.pages p using daywalk.walks k where k.walk_id = p.walk_id and k.window_id = target and k.outcome = 'ended';
         delete from daywalk.walks k where k.window_id = target and k.outcome = 'ended';
       end if;
       return daywalk.prove_cut_that_is_there(target, lease, evidence);
     end $$`,
  );
  expect(await again()).toMatchObject({ missing: 0 });
  expect(await server.query('select from public.lost')).toHaveLength(2);
  expect(
    await server.query(
      `select kind, last_error from daywalk.windows where state <> 'complete' or last_error is not null`,
    ),
  ).toEqual([]);
});

test('what a backfill planned of the days that are walked by themselves is scheduled work from the next plan on', async () => {
  const { database, server, streams } = exported;
  const last = lastClosedDay(Date.now(), 'UTC', 0);
  const days = [addDays(last, -2), addDays(last, -1)];
  const [stream] = await server.query<{ id: number }>(
    'select stream_id as id from daywalk.streams',
  );
  await planWindows(database, stream?.id ?? 0, 'backfill', days.map(dayWindow));
  await planScheduled(database, { ...OPTIONS, streams, since: addDays(last, -1) });
  expect(
    await server.query(
      `select day::text, purpose from daywalk.windows where kind = 'day' and day = any ($1::date[]) order by day`,
      [days],
    ),
  ).toEqual([
    { day: days[0], purpose: 'backfill' },
    { day: days[1], purpose: 'scheduled' },
  ]);
});
