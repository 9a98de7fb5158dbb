/** What verbs say, or do not say, where two rooms meet: the midnight before all days, days in the tier, nothing at all. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { backfillHere } from '../support/backfill-here.ts';
import { createTestDatabase } from '../support/database.ts';
import { dayAgo } from '../support/days.ts';
import { atNight } from '../support/night.ts';
import { temporaryFolder } from '../support/program.ts';
import { endLooks } from '../support/publishing.ts';
import { setExported, setScene } from '../support/scene.ts';

const ONE = { DAYWALK_STREAMS: 'events', DAYWALK_SETTLE: '0s' };
const backfill = (from: string, to: string, ...more: string[]) => [
  ...['backfill', '--from', from, '--to', to],
  ...more,
];

/** Two days of events, and one half a second before them, exported from a source that compares fractions of a second. */
async function withOneBefore() {
  const [before, first, last] = [dayAgo(7), dayAgo(6), dayAgo(5)];
  const records = [
    `${before}T23:59:59.500Z`,
    `${first}T12:00:00.000Z`,
    `${last}T12:00:00.000Z`,
  ].map((timestamp) => JSON.stringify({ timestamp, id: `at ${timestamp}` }));
  const since = { ...ONE, DAYWALK_SINCE: first };
  const days = { from: first, to: last };
  const scene = await setExported(days, since, { records, subSecond: 'exact' });
  const shown = await scene.database.query<{ id: string }>(
    `select record ->> 'id' as id from daywalk.events order by 1`,
  );
  return { scene, since, first, last, shown: shown.map(({ id }) => id) };
}

test('a search finds what the views show, where it says that all days are proven', async () => {
  const { scene, since, last, shown } = await withOneBefore();
  for (const id of shown) {
    const found = await scene.here(['search', id, '--to', last], since);
    if (found.code === 0) expect(found.stdout, id).toMatch(/1 hit/);
  }
});

test('what prune removes is in the export that it requires', async () => {
  const { scene, since, shown } = await withOneBefore();
  const folder = temporaryFolder();
  const options = ['--out', folder, '--format', 'ndjson'];
  await scene.here(['export', ...options], since);
  const prune = ['prune', '--older-than', '1d', '--require-export', folder, '--yes'];
  await scene.here(prune, since);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ndjson'))
    .map((path) => readFileSync(join(folder, path), 'utf8'))
    .join('');
  const left = await scene.database.query<{ id: string }>(
    `select record ->> 'id' as id from daywalk.events`,
  );
  const kept = (id: string) => files.includes(id) || left.some((row) => row.id === id);
  expect(shown.filter((id) => !kept(id))).toEqual([]);
});

atNight('a backfill of all says which days it leaves out because they moved', async () => {
  const scene = await setScene({ eventsPerDay: 20 });
  const settings = { ...ONE, DAYWALK_TIER_URL: join(temporaryFolder(), 'tier') };
  const range = [dayAgo(4), dayAgo(3)] as const;
  await scene.succeedHere(backfill(...range), settings);
  await endLooks(scene.database);
  const moved = await scene.succeed(['tier', '--older-than', '1d'], settings);
  expect(moved.stdout).toMatch(/2 days moved/);
  const again = await scene.here(backfill(...range, '--only', 'all'), settings);
  expect(again.stdout + again.stderr).toMatch(/2 days of the range/);
});

test('what a stream has that the settings define no more is exported, and comes back from where it was moved', async () => {
  const scene = await setScene({ eventsPerDay: 20 });
  const settings = { DAYWALK_SETTLE: '0s', DAYWALK_TIER_URL: join(temporaryFolder(), 'tier') };
  const range = ['--from', dayAgo(4), '--to', dayAgo(4)];
  await scene.succeedHere(['backfill', ...range], settings);
  await endLooks(scene.database);
  await scene.succeedHere(['tier', '--older-than', '1d'], settings);
  const [one, two] = [{ ...settings, DAYWALK_STREAMS: 'events' }, temporaryFolder()];
  const exported = await scene.succeedHere(['export', '--out', two, ...range], one);
  expect(exported.stdout).toMatch(/^2 days written: .* 0 left out\.$/m);
  // One that cannot be reached any more stops no export, and is told where it is asked for.
  const elsewhere = { ...one, DAYWALK_TIER_URL: join(temporaryFolder(), 'other') };
  await scene.succeedHere(['tier', '--restore', ...range, '--stream', 'events'], one);
  for (const [days, told] of [
    [[], null],
    [range, [`not exported: smart-event ${dayAgo(4)} tiered`]],
  ] as const) {
    const out = ['--out', temporaryFolder()];
    const { stdout } = await scene.here(['export', ...out, ...days], elsewhere);
    expect(stdout).toMatch(/^1 day written: /m);
    expect(stdout.match(/^.*smart-event.*$/gm)).toEqual(told);
  }
  const restored = await scene.succeedHere(['tier', '--restore', ...range], one);
  expect(restored.stdout).toMatch(/^1 day came back /m);
});

test('a stream that the settings define no more lacks no day since then in an export', async () => {
  const scene = await setScene({ eventsPerDay: 20 });
  const since = { DAYWALK_SETTLE: '0s', DAYWALK_SINCE: dayAgo(4) };
  await scene.succeedHere(backfill(dayAgo(4), dayAgo(4)), since);
  const one = { ...since, ...ONE };
  await scene.succeedHere(backfill(dayAgo(3), dayAgo(3)), one);
  const ended = `from daywalk.streams s where name = 'smart-event'`;
  // It had failed before.
  await scene.database.query(
    `insert into daywalk.windows (stream_id, kind, day, from_time, to_time, purpose, state)
     select stream_id, 'day', $1, $1::date, $1::date + interval '1 day - 1 second', 'scheduled', 'failed' ${ended}`,
    [dayAgo(3)],
  );
  for (const range of [['--from', dayAgo(4)], []]) {
    const options = ['--out', temporaryFolder(), ...range, '--to', dayAgo(3)];
    const { stdout } = await scene.here(['export', ...options], one);
    expect(stdout).toMatch(/^3 days written: .* 0 left out\.$/m);
  }
  // What is shown, and is not what its source had to say last, is told.
  await scene.database.query(
    `update daywalk.windows w set state = 'failed' ${ended} and w.stream_id = s.stream_id and w.kind = 'day'`,
  );
  const { code, stdout } = await scene.here(['export', '--out', temporaryFolder()], one);
  expect(code).toBe(3);
  expect(stdout.match(/^not exported: smart-event .*$/gm)).toEqual([
    `not exported: smart-event ${dayAgo(4)} failed`,
  ]);
});

test('accept says that a stream was never exported', async () => {
  const scene = await setScene();
  const said = await scene.run(['accept'], ONE);
  expect(said.stdout + said.stderr).toMatch(/events/);
});

test('verify --offline does not call an empty database sound', async () => {
  const scene = await setScene({}, await createTestDatabase());
  const said = await scene.run(['verify', '--offline'], ONE);
  expect(said).toMatchObject({ code: 3 });
  expect(said.stdout).not.toMatch(/Everything stored is what was stored/);
});

/** An event whose second instant, sixteen fields behind the first, is the same: nothing else tells it from others. */
function flow(timestamp: string): string {
  const between = Array.from({ length: 15 }, (_, n) => [
    `column_${String(n + 1).padStart(3, '0')}`,
    n,
  ]);
  return JSON.stringify({ timestamp, ...Object.fromEntries(between), updated_at: timestamp });
}

test('an event that comes late is shown, though only its instants tell it from another one', async () => {
  const day = dayAgo(5);
  const [first, late] = [`${day}T10:00:00.000Z`, `${day}T11:00:00.000Z`] as const;
  const scene = await setScene({ records: [flow(first)] });
  const days = { from: day, to: day };
  await backfillHere(scene, days, { environment: ONE });
  scene.api.insert([{ text: flow(late), time: late }]);
  await backfillHere(scene, days, { environment: ONE, only: 'all' });
  const deep = await scene.here(['verify', '--deep', '--from', day, '--to', day], ONE);
  expect(deep.stdout).toMatch(/1 same, 0 changed/);
  const shown = await scene.database.query<{ at: string }>(
    `select record ->> 'timestamp' as at from daywalk.events order by 1`,
  );
  expect(shown.map(({ at }) => at)).toEqual([first, late]);
});
