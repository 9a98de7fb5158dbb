/** `daywalk prune`: what is old goes, once it may and only then; everything that is said about the rest stays true (I6, I7). */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { backfillHere } from '../support/backfill-here.ts';
import { expectExact, sentTexts } from '../support/multiset.ts';
import { atNight } from '../support/night.ts';
import { temporaryFolder } from '../support/program.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { type Moment, startStepProxy, type Verdict } from '../support/step-proxy.ts';
import { unguarded } from '../support/unguarded.ts';
import {
  ageOf,
  DAYS,
  EVENTS,
  expectWholeAfter,
  exported,
  pagesByDay,
  prunings,
  RANGE,
  showMore,
  upTo,
} from './pruning.ts';

/** What is left where all days up to 2026-02-01 go. */
const KEPT = { from: '2026-02-02', to: '2026-02-03' };

describe('by age', () => {
  test('a dry run changes nothing; --yes takes the old days, which nobody walks again', async () => {
    const scene = await exported();
    const before = await pagesByDay(scene);
    const [shown] = await scene.database.query(
      `select sum(records) as records, sum(pages) as pages from daywalk.coverage where day <= '2026-02-01' and stream = 'events'`,
    );
    const dry = await scene.succeedHere(upTo('2026-02-01'), EVENTS);
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

    await expectExact(scene, KEPT, ['events']);
    expect(
      await scene.database.query(
        `select state, records, pages, bytes from daywalk.coverage where day = '2026-01-31' and stream = 'events'`,
      ),
    ).toEqual([{ state: 'pruned', records: '0', pages: '0', bytes: '0' }]);
    await expectNotWalkedAgain(scene);
  });

  // By day retention/prunings does what the verb does.
  atNight('--superseded takes what was replaced, and nothing that is shown', async () => {
    const scene = await exported();
    await backfillHere(scene, RANGE, { only: 'all', environment: EVENTS });
    await scene.succeed(upTo('2026-02-01', '--yes'), EVENTS);
    await expectSupersededGone(scene);
  });

  /** Neither a run nor a backfill walks it again; its neighbours can be, and show nothing twice. */
  async function expectNotWalkedAgain(scene: Scene): Promise<void> {
    const before = scene.api.requests.length;
    const walked = await scene.succeedHere(['backfill', ...DAYS, '--only', 'all'], EVENTS);
    expect(walked.stderr).toContain('3 days of the range pruned: never walked again');
    const asked = scene.api.requests
      .slice(before)
      // As a known answer a pruned day is asked for a few records, once the one before is some minutes old.
      .filter(({ query }) => Number(query.length) > 29)
      .map(({ query }) => query.fromDate ?? '');
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.filter((from) => from < '2026-02-02')).toEqual([]);
    await expectExact(scene, KEPT, ['events']);
    // A due time that something else set brings it back neither.
    expect(
      await scene.database.query(
        `select from daywalk.windows where day < '2026-02-02' and (due_at is not null or state <> 'complete')`,
      ),
    ).toEqual([]);
  }

  /** --superseded takes the walks that were replaced, and nothing that is shown; what is left can be walked again. */
  async function expectSupersededGone(scene: Scene): Promise<void> {
    const pages = async () =>
      Object.values(await pagesByDay(scene)).reduce((sum, count) => sum + count, 0);
    const before = await pages();
    const done = await scene.succeedHere(['prune', '--superseded', '--yes'], EVENTS);
    expect(done.stdout).toMatch(/^superseded walks of 2 days went: /m);
    expect(await pages()).toBeLessThan(before);
    expect(
      await scene.database.query(
        `select from daywalk.walks k join daywalk.pages p using (walk_id) join daywalk.windows w using (window_id)
          where k.shown = 'no' and k.role = 'whole' and k.outcome = 'proven' and k.records > 0
            and w.proof ->> 'walk' <> k.walk_id::text`,
      ),
    ).toEqual([]);
    await expectExact(scene, KEPT, ['events']);
    await scene.succeedHere(['verify', '--offline'], EVENTS);
    // What a cut asked for is kept as its evidence.
    await backfillHere(scene, RANGE, { only: 'all', environment: EVENTS });
    await expectExact(scene, KEPT, ['events']);
  }

  atNight(
    'a day that is walked again beside pruned ones shows nothing twice, with its cuts or without',
    async () => {
      // The day behind the last kept one goes first.
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
      }
    },
  );

  test('the setting: what a worker holds, or the ledger does not have yet, stays', async () => {
    const scene = await exported();
    await scene.database.query(
      `update daywalk.windows set lease_id = gen_random_uuid(), lease_expires = clock_timestamp() + interval '1 hour' where day = '2026-01-30' and kind = 'day'`,
    );
    await unguarded(scene.database, `delete from daywalk.ledger where day = '2026-01-31'`);
    const retention = { DAYWALK_RETENTION: ageOf('2026-02-01') };
    const ended = await scene.here(['prune', '--yes'], { ...EVENTS, ...retention });
    expect(ended).toMatchObject({ code: 3 });
    expect(ended.stdout).toMatch(/^kept: events 2026-01-30: a worker holds it$/m);
    expect(ended.stdout).toMatch(/^kept: events 2026-01-31: it is not in the ledger yet/m);
    expect(Object.keys(await pagesByDay(scene))).toEqual([
      ...['2026-01-30', '2026-01-31', '2026-02-02', '2026-02-03'],
    ]);
  });
});

describe('what reads while it is pruned never takes a part for the whole', () => {
  /** A way to the database on which, once it is armed, the days go at the first statement that matches. */
  async function whilePruned(scene: Scene, at: RegExp, armed: boolean) {
    const state = { armed, pruned: false };
    const gate = async (statement: string, moment: Moment): Promise<Verdict> => {
      if (moment === 'after' || !state.armed || !at.test(statement)) return 'pass';
      Object.assign(state, { armed: false, pruned: true });
      await scene.succeedHere(upTo('2026-01-31', '--yes'), EVENTS);
      return 'pass';
    };
    const proxy = await startStepProxy(scene.database.url, gate);
    return { url: proxy.url, close: () => proxy.close(), state };
  }

  test('serve-archive: 503, then 409 and the days', async () => {
    const scene = await exported();
    const proxy = await whilePruned(scene, /p\.walk_id is null as tiered/, false);
    const url = await serving(scene, { DATABASE_URL: proxy.url });
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
    const gone = await ask('2026-01-30', '2026-02-01');
    expect([gone.status, await gone.json()]).toEqual([
      409,
      {
        error: 'not kept in the archive any more: events 2026-01-30 and 1 more',
        hint: expect.stringMatching(/Retention has removed them.*later days than 2026-01-31/),
        stream: 'events',
        pruned: ['2026-01-30', '2026-01-31'],
      },
    ]);
    expect((await ask('2026-02-01', '2026-02-03')).status).toBe(200);
    await proxy.close();
  });

  async function serving(scene: Scene, more: Record<string, string> = {}): Promise<string> {
    const settings = {
      DAYWALK_ARCHIVE_KEY: 'key-of-the-archive',
      DAYWALK_ARCHIVE_LISTEN: '127.0.0.1:0',
    };
    const program = scene.start(['serve-archive'], { ...EVENTS, ...settings, ...more });
    const [, url = ''] = await program.saying(/serving .* at (http:\/\/\S+)\s/);
    return url;
  }

  atNight('daywalk itself takes days that an archive keeps no more for no empty ones', async () => {
    const scene = await exported();
    await scene.succeedHere(upTo('2026-01-31', '--yes'), EVENTS);
    const url = await serving(scene);
    const copy = await setScene();
    const copied = await copy.run(['backfill', '--from', '2026-01-31', '--to', '2026-02-02'], {
      ...EVENTS,
      DAYWALK_API_URL: url,
      DAYWALK_API_KEY: 'key-of-the-archive',
    });
    expect(copied, copied.stderr).toMatchObject({ code: 3 });
    expect(copied.stdout).toMatch(/2026-01-31.*409.*not kept in the archive any more/);
    expect(
      await copy.database.query(
        `select day::text, state from daywalk.coverage where stream = 'events' and day < '2026-03-01' order by day`,
      ),
    ).toEqual([
      // What lies across the midnight between the last pruned day and the next one, nobody can tell any more.
      { day: '2026-01-31', state: 'failed' },
      { day: '2026-02-01', state: 'failed' },
      { day: '2026-02-02', state: 'complete' },
    ]);
  });

  test('--require-export takes no day whose file was spoiled since', async () => {
    const scene = await exported();
    const folder = temporaryFolder();
    const day = ['--from', '2026-01-30', '--to', '2026-01-30'];
    await scene.succeedHere(['export', '--out', folder, ...day], EVENTS);
    const path = join(folder, 'stream=events/day=2026-01-30/records.ndjson.gz');
    const file = await readFile(path);
    const middle = Math.floor(file.length / 2);
    file[middle] = 255 - (file[middle] ?? 0);
    await writeFile(path, file);
    const ended = await scene.here(upTo('2026-01-30', '--require-export', folder, '--yes'), EVENTS);
    expect(ended).toMatchObject({ code: 3 });
    expect(ended.stdout).toMatch(
      /^kept: events 2026-01-30: its exported file is not what was written$/m,
    );
  });

  atNight(
    '--require-export takes only days whose file is there as they are shown now; an export leaves out what goes meanwhile',
    async () => {
      const scene = await exported();
      const folder = temporaryFolder();
      const days = ['--from', '2026-01-30', '--to', '2026-02-01'];
      await scene.succeedHere(['export', '--out', folder, ...days], EVENTS);
      const path = (day: string) => join(folder, `stream=events/day=${day}/records.ndjson.gz`);
      const before = await readFile(path('2026-01-31'));
      await showMore(scene, '2026-01-31');
      await rm(path('2026-02-01'));
      const ended = await scene.here(
        upTo('2026-02-02', '--require-export', folder, '--yes'),
        EVENTS,
      );
      expect(ended).toMatchObject({ code: 3 });
      expect(ended.stdout).toMatch(/^pruned: events 2026-01-30$/m);
      expect(ended.stdout).toMatch(
        /^kept: events 2026-01-31: what is shown of it changed since it was exported$/m,
      );
      expect(ended.stdout).toMatch(/^kept: events 2026-02-01: its exported file is gone/m);
      expect(ended.stdout).toMatch(/^kept: events 2026-02-02: it is not exported$/m);
      expect(Object.keys(await pagesByDay(scene))).not.toContain('2026-01-30');

      // The export goes on, and a day goes while it is read: the files of before stay as they were.
      const proxy = await whilePruned(scene, /from daywalk\.shown_records s/, true);
      const again = await scene.here(['export', '--out', folder, ...days], {
        ...EVENTS,
        DATABASE_URL: proxy.url,
      });
      await proxy.close();
      expect(proxy.state.pruned).toBe(true);
      expect(again, again.stderr).toMatchObject({ code: 3 });
      expect(again.stdout).toMatch(/^1 day written.* 1 already there; 1 left out/m);
      expect(again.stdout).toMatch(/^not exported: events 2026-01-31 pruned/m);
      expect(await readFile(path('2026-01-31'))).toEqual(before);
      const manifest = JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8'));
      expect(manifest.incomplete).toMatchObject([{ day: '2026-01-31', state: 'pruned' }]);
      expect(manifest.files).toHaveLength(3);
    },
  );
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
    Array.from({ length: 60 }, (_, n) => second(from + 60_000 + n * 1_400_000, 1)).flat();
  const midnight = Date.parse(`${next}T00:00:00Z`);
  const records = [
    ...spread(midnight - 86_400_000),
    ...second(midnight - 1_000, 30),
    ...second(midnight, 30),
    ...spread(midnight),
  ];
  const scene = await setScene({ records, offsetCap: { limit: 80, answer: 400 } });
  await backfillHere(scene, { from: DAY, to: next }, { environment: EVENTS });
  await expectExact(scene, { from: DAY, to: next }, ['events']);
  await scene.succeedHere(upTo(DAY, '--yes'), EVENTS);
  await expectExact(scene, { from: next, to: next }, ['events']);
  expect(
    await scene.database.query(
      'select day::text, state, records::int from daywalk.coverage order by day',
    ),
  ).toContainEqual({ day: next, state: 'complete', records: 90 });
});

test('killed at any statement and repeated, it is whole; nobody sees half a day', async () => {
  await expectWholeAfter([
    { at: /daywalk\.mark_pruned/, count: 2, moment: 'after' },
    { at: /delete from daywalk\.pages/, count: 1, moment: 'after' },
  ]);
});
