/** `daywalk prune`: what is old goes, once it may and only then; everything that is said about the rest stays true (I6, I7). */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { expectExact, sentTexts } from '../support/multiset.ts';
import { temporaryFolder } from '../support/program.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { type Moment, startStepProxy, type Verdict } from '../support/step-proxy.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** As `settle` is by default. */
const SETTLE_MS = HOUR_MS;
const EVENTS = { DAYWALK_STREAMS: 'events' };
/** Two months meet in it. */
const RANGE = { from: '2026-01-30', to: '2026-02-03' };
const DAYS = ['--from', RANGE.from, '--to', RANGE.to];

/** The age that takes all days up to this one and no later one; half a day off the hour at which it would be another. */
function ageOf(day: string): string {
  return `${Math.floor((Date.now() - SETTLE_MS - Date.parse(day) - 1.5 * DAY_MS) / HOUR_MS)}h`;
}

/** The days with pages, and how many. */
async function pagesByDay({ database }: Scene): Promise<Record<string, number>> {
  const rows = await database.query<{ day: string; pages: number }>(
    `select day::text as day, count(*)::int as pages from daywalk.pages group by day order by day`,
  );
  return Object.fromEntries(rows.map(({ day, pages }) => [day, pages]));
}

const prunings = ({ database }: Scene) =>
  database.query(
    `select day::text as day, what, pruned_by = current_user as by_me, pages > 0 and records > 0 and bytes > 0 as counted,
            removed_at is not null as removed
       from daywalk.prunings order by day`,
  );

async function exported(settings: Record<string, string> = {}): Promise<Scene> {
  const scene = await setScene({ eventsPerDay: 90 });
  await scene.succeed(['backfill', ...DAYS], { ...EVENTS, ...settings });
  return scene;
}

/** A record comes late, so that the day looks different from what it was. */
async function showMore({ api, succeed }: Scene, day: string): Promise<void> {
  api.insert([`{"timestamp": "${day}T12:00:00Z", "late": true}`]);
  await succeed(['backfill', '--from', day, '--to', day, '--only', 'all'], EVENTS);
}

const upTo = (day: string, ...more: string[]) => ['prune', '--older-than', ageOf(day), ...more];

describe('by age', () => {
  test('a dry run changes nothing; --yes takes the old days; every verb understands it', async () => {
    const scene = await exported();
    const before = await pagesByDay(scene);
    const [shown] = await scene.database.query(
      `select sum(records) as records, sum(pages) as pages from daywalk.coverage where day <= '2026-02-01' and stream = 'events'`,
    );
    const [shownDay] = await scene.database.query(
      `select records, pages from daywalk.coverage where day = '2026-01-31' and stream = 'events'`,
    );
    const dry = await scene.succeed(upTo('2026-02-01'), EVENTS);
    expect(dry.stdout).toMatch(/^would go: events 2026-01-30 to 2026-02-01$/m);
    expect(dry.stdout).toMatch(
      /^3 days would go: \d+ records on \d+ pages, [\d.]+ kB received with their evidence, about [\d.]+ kB on the disk\.$/m,
    );
    // What was walked once more as evidence is not counted again.
    expect(dry.stdout).toContain(`would go: ${shown?.records} records on ${shown?.pages} pages,`);
    expect(dry.stdout).toMatch(/^Of 2026-01 nothing is kept: the disk would get/m);
    expect(dry.stdout).toMatch(/dry run: nothing was changed/);
    expect(await pagesByDay(scene)).toEqual(before);
    expect(await prunings(scene)).toEqual([]);

    const done = await scene.succeed(upTo('2026-02-01', '--yes'), EVENTS);
    expect(done.stdout).toMatch(/^pruned: events 2026-01-30 to 2026-02-01$/m);
    expect(done.stdout).toMatch(/^Of 2026-01 nothing is kept: the disk got that space back/m);
    expect(Object.keys(await pagesByDay(scene))).toEqual(['2026-02-02', '2026-02-03']);
    const row = { what: 'day', by_me: true, counted: true, removed: true };
    expect(await prunings(scene)).toEqual(
      ['2026-01-30', '2026-01-31', '2026-02-01'].map((day) => ({ day, ...row })),
    );
    const [size] = await scene.database.query(
      `select pg_relation_size('daywalk.pages_2026_01')::int as size`,
    );
    expect(size).toEqual({ size: 0 });

    await expectExact(scene, { from: '2026-02-02', to: '2026-02-03' }, ['events']);
    await expectToldOf(scene);
    expect((await scene.succeed(['why', '2026-01-31'], EVENTS)).stdout).toContain(
      `: ${shownDay?.records} records on ${shownDay?.pages} pages `,
    );
    expect((await scene.succeed(upTo('2026-02-01', '--yes'), EVENTS)).stdout).toMatch(
      /^Nothing went/m,
    );
  });

  /** What the reading verbs say after three of five days were pruned. */
  async function expectToldOf(scene: Scene): Promise<void> {
    const all = ['status', '--months', '1200', '--json'];
    const status = JSON.parse((await scene.succeed(all, EVENTS)).stdout);
    const { days, ...totals } = status.streams[0];
    const own = days.filter(({ day }: { day: string }) => day <= RANGE.to);
    expect(own.map(({ state }: { state: string }) => state)).toEqual([...['complete', 'complete']]);
    expect(totals).toMatchObject({ pruned: 3, complete: 2 });
    expect(totals.records).toBe(own[0].records + own[1].records);
    expect(
      await scene.database.query(
        `select state, records, pages, bytes from daywalk.coverage where day = '2026-01-31' and stream = 'events'`,
      ),
    ).toEqual([{ state: 'pruned', records: '0', pages: '0', bytes: '0' }]);
    expect((await scene.succeed(['status'], EVENTS)).stdout).toMatch(/, 3 days pruned/);
    const gaps = JSON.parse((await scene.run(['gaps', '--json'], EVENTS)).stdout);
    expect(JSON.stringify(gaps)).not.toMatch(/2026-0[12]/);
    expect((await scene.succeed(['why', '2026-01-31'], EVENTS)).stdout).toMatch(
      /^events 2026-01-31: pruned at .* by \S+: \d+ records on \d+ pages .* are not kept any more\.$/m,
    );
    for (const how of [[], ['--deep']])
      expect((await scene.succeed(['verify', ...how], EVENTS)).stdout).toMatch(
        /^2 windows compared .*: 2 same, 0 changed\.$/m,
      );
    const offline = await scene.succeed(['verify', '--offline'], EVENTS);
    expect(offline.stdout).toMatch(/^Everything stored is what was stored/m);
    expect(offline.stdout).toMatch(/^\d+ walks pruned: their pages are gone/m);
  }

  test('neither a run nor a backfill walks it again; its neighbours can be, and show nothing twice', async () => {
    const scene = await exported();
    await scene.succeed(upTo('2026-02-01', '--yes'), EVENTS);
    const plan = await scene.succeed(['backfill', ...DAYS, '--only', 'all', '--dry-run'], EVENTS);
    expect(plan.stdout.match(/it was pruned/g)).toHaveLength(3);
    const before = scene.api.requests.length;
    const walked = await scene.succeed(['backfill', ...DAYS, '--only', 'all'], EVENTS);
    expect(walked.stderr).toContain('3 days of the range pruned: never walked again');
    const asked = scene.api.requests.slice(before).map(({ query }) => query.fromDate ?? '');
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.filter((from) => from < '2026-02-02')).toEqual([]);
    await expectExact(scene, { from: '2026-02-02', to: '2026-02-03' }, ['events']);
    // A due time that something else set brings it back neither.
    expect(
      await scene.database.query(
        `select from daywalk.windows where day < '2026-02-02' and (due_at is not null or state <> 'complete')`,
      ),
    ).toEqual([]);
    await scene.succeed(['verify', '--offline'], EVENTS);

    // The other edge: the day behind the last kept one goes first.
    const other = await exported();
    await other.database.query(
      `update daywalk.windows set state = 'failed', last_error = 'a reason' where day = '2026-01-31' and kind = 'day'`,
    );
    const kept = await other.run(upTo('2026-02-01', '--yes'), EVENTS);
    expect(kept).toMatchObject({ code: 3 });
    expect(kept.stdout).toMatch(/^kept: events 2026-01-31: it failed$/m);
    // Walked again alone, its cuts stay as they were; walked again with its cuts, all are new.
    for (const only of ['failed', 'all']) {
      const day = ['--from', '2026-01-31', '--to', '2026-01-31'];
      await other.succeed(['backfill', ...day, '--only', only], EVENTS);
      const texts = await sentTexts(
        other.database,
        other.api.listed({
          resource: 'events',
          from: '2026-01-31 00:00:00',
          to: '2026-01-31 23:59:59',
        }),
      );
      const shown = await other.database.query<{ record: string }>(
        `select record::text as record from daywalk.events where day <= '2026-02-01'`,
      );
      expect(shown.map(({ record }) => record).sort(), only).toEqual([...texts].sort());
      await other.succeed(['verify', '--offline'], EVENTS);
    }
  });

  test('settings: a stream has its own retention, without any nothing goes, bad ones are refused', async () => {
    const scene = await exported();
    const nothing = await scene.run(['prune', '--yes'], EVENTS);
    expect(nothing).toMatchObject({ code: 2 });
    expect(nothing.stderr).toMatch(/all is kept for ever[\s\S]*--older-than 400d/);
    expect(
      (await scene.succeed(['prune'], { ...EVENTS, DAYWALK_RETENTION: ageOf('2026-01-30') }))
        .stdout,
    ).toMatch(/^would go: events 2026-01-30$/m);
    const bad = await scene.run(['prune', '--older-than', '1h'], EVENTS);
    expect(bad).toMatchObject({ code: 2 });
    expect(bad.stderr).toMatch(/flag --older-than: "1h" is no age of at least a day/);
    expect(await prunings(scene)).toEqual([]);
  });

  test('what a worker holds, or the ledger does not have yet, stays', async () => {
    const scene = await exported();
    await scene.database.query(
      `update daywalk.windows set lease_id = gen_random_uuid(), lease_expires = clock_timestamp() + interval '1 hour' where day = '2026-01-30' and kind = 'day'`,
    );
    await scene.database.query(`begin; set local session_replication_role = replica;
      delete from daywalk.ledger where day = '2026-01-31'; commit`);
    const ended = await scene.run(upTo('2026-02-01', '--yes'), EVENTS);
    expect(ended).toMatchObject({ code: 3 });
    expect(ended.stdout).toMatch(/^kept: events 2026-01-30: a worker holds it$/m);
    expect(ended.stdout).toMatch(/^kept: events 2026-01-31: it is not in the ledger yet/m);
    // The cut before the first day stays with it.
    expect(Object.keys(await pagesByDay(scene))).toEqual([
      ...['2026-01-29', '2026-01-30', '2026-01-31', '2026-02-02', '2026-02-03'],
    ]);
  });
});

test('--require-export: only days whose file is there as they are shown now', async () => {
  const scene = await exported();
  const folder = temporaryFolder();
  const prune = (...more: string[]) =>
    scene.run(upTo('2026-02-02', '--require-export', folder, ...more), EVENTS);
  const none = await prune('--yes');
  expect(none).toMatchObject({ code: 2 });
  expect(none.stderr).toMatch(/holds no export/);

  const to = ['--from', '2026-01-30', '--to', '2026-02-01'];
  await scene.succeed(['export', '--out', folder, ...to], EVENTS);
  await showMore(scene, '2026-01-31');
  await rm(join(folder, 'stream=events/day=2026-02-01/records.ndjson.gz'));
  const ended = await prune('--yes');
  expect(ended).toMatchObject({ code: 3 });
  expect(ended.stdout).toMatch(/^pruned: events 2026-01-30$/m);
  expect(ended.stdout).toMatch(
    /^kept: events 2026-01-31: what is shown of it changed since it was exported$/m,
  );
  expect(ended.stdout).toMatch(/^kept: events 2026-02-01: its exported file is gone/m);
  expect(ended.stdout).toMatch(/^kept: events 2026-02-02: it is not exported$/m);
  expect(Object.keys(await pagesByDay(scene))).not.toContain('2026-01-30');

  // The export goes on: the file of the pruned day stays, and is told as there.
  const again = await scene.succeed(['export', '--out', folder, ...to], EVENTS);
  expect(again.stdout).toMatch(/^2 days written.* 1 already there; 0 left out/m);
  const manifest = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8'));
  expect(manifest.files).toHaveLength(3);
  const elsewhere = await scene.run(['export', '--out', temporaryFolder(), ...to], EVENTS);
  expect(elsewhere).toMatchObject({ code: 3 });
  expect(elsewhere.stdout).toMatch(/^not exported: events 2026-01-30 pruned$/m);
});

describe('what reads while it is pruned never takes a part for the whole', () => {
  /** A way to the database on which, once it is armed, the days go at the first statement that matches. */
  async function whilePruned(scene: Scene, at: RegExp, armed: boolean) {
    const state = { armed, pruned: false };
    const gate = async (statement: string, moment: Moment): Promise<Verdict> => {
      if (moment === 'after' || !state.armed || !at.test(statement)) return 'pass';
      Object.assign(state, { armed: false, pruned: true });
      await scene.succeed(upTo('2026-02-01', '--yes'), EVENTS);
      return 'pass';
    };
    const proxy = await startStepProxy(scene.database.url, gate);
    return { url: proxy.url, close: () => proxy.close(), state };
  }

  test('serve-archive: 503, then 409 and the days; daywalk itself takes neither for an empty day', async () => {
    const scene = await exported();
    // The last day that is copied needs what the archive shows behind it.
    await scene.succeed(['backfill', '--from', '2026-02-04', '--to', '2026-02-04'], EVENTS);
    const proxy = await whilePruned(scene, /p\.walk_id is null as tiered/, false);
    const settings = {
      DAYWALK_ARCHIVE_KEY: 'key-of-the-archive',
      DAYWALK_ARCHIVE_LISTEN: '127.0.0.1:0',
    };
    const program = scene.start(['serve-archive'], {
      ...EVENTS,
      ...settings,
      DATABASE_URL: proxy.url,
    });
    const [, url] = await program.saying(/serving .* at (http:\/\/\S+)\s/);
    const ask = (from: string, to: string) =>
      fetch(`${url}/api/events?fromDate=${from}%2000:00:00&toDate=${to}%2023:59:59&length=5`, {
        headers: { 'X-API-Key': 'key-of-the-archive' },
      });
    // Pages are emptied before the walk of the envelope is looked for: from then on they are held against that.
    expect((await ask('2026-02-03', '2026-02-03')).status).toBe(200);
    proxy.state.armed = true;
    const caught = await ask('2026-01-31', '2026-01-31');
    expect(proxy.state.pruned).toBe(true);
    expect([caught.status, await caught.json()]).toEqual([
      503,
      { error: '2026-01-31 changed while it was read', hint: 'Ask again.' },
    ]);
    const gone = await ask('2026-01-31', '2026-02-02');
    expect([gone.status, await gone.json()]).toEqual([
      409,
      {
        error: 'not kept in the archive any more: events 2026-01-31 and 1 more',
        hint: expect.stringMatching(/Retention has removed them.*later days than 2026-02-01/),
        stream: 'events',
        pruned: ['2026-01-31', '2026-02-01'],
      },
    ]);
    expect((await ask('2026-02-02', '2026-02-03')).status).toBe(200);

    const copy = await setScene();
    const copied = await copy.run(['backfill', ...DAYS], {
      ...EVENTS,
      DAYWALK_API_URL: url,
      DAYWALK_API_KEY: 'key-of-the-archive',
    });
    expect(copied, copied.stderr).toMatchObject({ code: 3 });
    expect(copied.stdout).toMatch(/2026-01-30.*409.*not kept in the archive any more/);
    expect(
      await copy.database.query(
        `select day::text, state from daywalk.coverage where stream = 'events' and day < '2026-03-01' order by day`,
      ),
    ).toEqual([
      // What lies across the midnight between the last pruned day and the next one, nobody can tell any more.
      ...['2026-01-30', '2026-01-31', '2026-02-01', '2026-02-02'].map((day) => ({
        day,
        state: 'failed',
      })),
      { day: '2026-02-03', state: 'complete' },
    ]);
    await proxy.close();
  });

  test('export: the day is left out, and a file of before stays as it was', async () => {
    const scene = await exported();
    const folder = temporaryFolder();
    const day = ['--from', '2026-01-31', '--to', '2026-01-31'];
    await scene.succeed(['export', '--out', folder, ...day], EVENTS);
    const path = join(folder, 'stream=events/day=2026-01-31/records.ndjson.gz');
    const before = await readFile(path);
    await showMore(scene, '2026-01-31');
    const proxy = await whilePruned(scene, /from daywalk\.shown_records s/, true);
    const ended = await scene.run(['export', '--out', folder, ...day], {
      ...EVENTS,
      DATABASE_URL: proxy.url,
    });
    await proxy.close();
    expect(proxy.state.pruned).toBe(true);
    expect(ended, ended.stderr).toMatchObject({ code: 3 });
    expect(ended.stdout).toMatch(/^not exported: events 2026-01-31 pruned/m);
    expect(await readFile(path)).toEqual(before);
    const manifest = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8'));
    expect(manifest.incomplete).toMatchObject([{ day: '2026-01-31', state: 'pruned' }]);
  });
});

test('--superseded takes the walks that were replaced, and nothing that is shown', async () => {
  const scene = await exported();
  await scene.succeed(['backfill', ...DAYS, '--only', 'all'], EVENTS);
  const both = await scene.run(['prune', '--superseded', '--require-export', '/tmp'], EVENTS);
  expect(both).toMatchObject({ code: 2 });
  const dry = await scene.succeed(['prune', '--superseded'], EVENTS);
  expect(dry.stdout).toMatch(/^would go: superseded walks of events 2026-01-30 to 2026-02-03$/m);
  const before = Object.values(await pagesByDay(scene)).reduce((sum, pages) => sum + pages, 0);
  const done = await scene.succeed(['prune', '--superseded', '--yes'], EVENTS);
  expect(done.stdout).toMatch(/^superseded walks of 5 days went: /m);
  const after = Object.values(await pagesByDay(scene)).reduce((sum, pages) => sum + pages, 0);
  expect(after).toBeLessThan(before);
  expect(
    await scene.database.query(
      `select from daywalk.walks k join daywalk.pages p using (walk_id) join daywalk.windows w using (window_id)
        where k.shown = 'no' and k.role = 'whole' and k.outcome = 'proven' and k.records > 0
          and w.proof ->> 'walk' <> k.walk_id::text`,
    ),
  ).toEqual([]);
  await expectExact(scene, RANGE, ['events']);
  await scene.succeed(['verify', '--offline'], EVENTS);
  // What a cut asked for is kept as its evidence; and what is left can go by age.
  await scene.succeed(['backfill', ...DAYS, '--only', 'all'], EVENTS);
  await expectExact(scene, RANGE, ['events']);
  await scene.succeed(upTo(RANGE.to, '--yes'), EVENTS);
  expect(await pagesByDay(scene)).toEqual({});
  await scene.succeed(['verify', '--offline'], EVENTS);
});

test('the first second of the next day stays when the day before it goes, though both sides of midnight were split', async () => {
  const DAY = '2026-02-01';
  const next = '2026-02-02';
  const second = (from: number, count: number) =>
    Array.from({ length: count }, (_, n) => {
      const time = from + Math.floor((n * 1_000) / count);
      const text = `{"timestamp":"${new Date(time).toISOString()}","rule":{"level":${n % 16}},"n":${from + n}}`;
      return { time, text };
    });
  const spread = (from: number) =>
    Array.from({ length: 450 }, (_, n) => second(from + 60_000 + n * 180_000, 1)).flat();
  const midnight = Date.parse(`${next}T00:00:00Z`);
  const records = [
    ...spread(midnight - 86_400_000),
    ...second(midnight - 1_000, 150),
    ...second(midnight, 150),
    ...spread(midnight),
  ];
  const scene = await setScene({ records, offsetCap: { limit: 400, answer: 400 } });
  await scene.succeed(['backfill', '--from', DAY, '--to', next], EVENTS);
  await expectExact(scene, { from: DAY, to: next }, ['events']);
  await scene.succeed(upTo(DAY, '--yes'), EVENTS);
  await expectExact(scene, { from: next, to: next }, ['events']);
  expect(
    await scene.database.query(
      'select day::text, state, records::int from daywalk.coverage order by day',
    ),
  ).toContainEqual({ day: next, state: 'complete', records: 600 });
});

test('killed at any statement and repeated, it is whole; nobody sees half a day', async () => {
  const scene = await exported();
  // A stream beside it keeps January in use, so that rows are deleted there.
  await scene.succeed(['backfill', '--from', '2026-01-31', '--to', '2026-01-31'], {
    DAYWALK_STREAMS: 'smart-event',
  });
  const other = await scene.database.query(
    `select k.walk_id from daywalk.walks k join daywalk.windows w using (window_id) join daywalk.streams s using (stream_id)
      where s.name = 'smart-event' and k.pages > 0 order by 1`,
  );
  const KILLS = [
    { at: /daywalk\.mark_pruned/, count: 1, moment: 'before' },
    { at: /daywalk\.mark_pruned/, count: 2, moment: 'after' },
    { at: /daywalk\.empty_month/, count: 1, moment: 'before' },
    { at: /delete from daywalk\.pages/, count: 1, moment: 'before' },
    { at: /delete from daywalk\.pages/, count: 1, moment: 'after' },
    { at: /update daywalk\.prunings/, count: 1, moment: 'before' },
    { at: /daywalk\.empty_month/, count: 2, moment: 'after' },
  ] as const;
  for (const { at, count, moment } of KILLS) {
    let seen = 0;
    let kill = () => {};
    const proxy = await startStepProxy(scene.database.url, (statement, now) => {
      if (now !== moment || !at.test(statement)) return 'pass';
      seen += 1;
      if (seen !== count) return 'pass';
      kill();
      return 'cut';
    });
    const program = scene.start(upTo('2026-02-02', '--yes'), {
      ...EVENTS,
      DATABASE_URL: proxy.url,
    });
    kill = () => program.kill('SIGKILL');
    const { signal } = await program.ended;
    await proxy.close();
    expect([signal, String(at), moment]).toEqual(['SIGKILL', String(at), moment]);
    const halves = await scene.database.query(
      `select c.day from daywalk.coverage c
        where c.stream = 'events' and c.state = 'complete'
          and c.records <> (select count(*) from daywalk.events e where e.stream = c.stream and e.day = c.day)
        union all
       select e.day from daywalk.events e join daywalk.coverage c on c.stream = e.stream and c.day = e.day
        where c.state = 'pruned'`,
    );
    expect(halves).toEqual([]);
    expect(await scene.database.query('select from daywalk.ledger_check where not ok')).toEqual([]);
  }
  const last = await scene.succeed(upTo('2026-02-02', '--yes'), EVENTS);
  expect(last.stdout).toMatch(/interrupted; what it left is removed now/);
  await scene.succeed(['verify', '--offline'], EVENTS);
  expect((await prunings(scene)).map(({ day, removed }) => [day, removed])).toEqual(
    ['2026-01-30', '2026-01-31', '2026-02-01', '2026-02-02'].map((day) => [day, true]),
  );
  await expectExact(scene, { from: '2026-02-03', to: '2026-02-03' }, ['events']);
  await expectExact(scene, { from: '2026-01-31', to: '2026-01-31' }, ['smart-event']);
  const left = await scene.database.query(
    `select distinct walk_id from daywalk.pages where day < '2026-02-01' order by 1`,
  );
  expect(left).toEqual(other);
});
