/** More of the verbs that look than e2e/reading-verbs.test.ts: days of which nothing is stored, JSON, months, and a quiet run. */
import { expect, test } from 'vitest';
import { until } from '../support/condition.ts';
import { dayAgo } from '../support/days.ts';
import { violations } from '../support/json-schemas.ts';
import { temporaryFolder } from '../support/program.ts';
import { setScene } from '../support/scene.ts';

const SINCE = {
  get DAYWALK_SINCE() {
    return dayAgo(4);
  },
  DAYWALK_SETTLE: '0s',
};

test('of days of which nothing is stored, each verb says why', async () => {
  const scene = await setScene({
    faults: [
      {
        kind: 'html',
        when: ({ resource, query }) =>
          resource === 'events' && query.toDate === `${dayAgo(3)} 23:59:59`,
      },
    ],
  });
  const empty = JSON.parse((await scene.succeed(['status', '--json'], SINCE)).stdout);
  expect(empty).toMatchObject({ running: [], lastRun: null, gaps: [] });
  expect(violations('status', empty)).toEqual([]);
  await scene.succeed(['backfill', '--from', dayAgo(4), '--to', dayAgo(4)], SINCE);
  const failed = await scene.run(
    ['backfill', '--from', dayAgo(3), '--to', dayAgo(3), '--stream', 'events'],
    SINCE,
  );
  expect(failed.code).toBe(3);
  scene.api.set({ faults: [] });
  const told = JSON.parse((await scene.succeed(['status', '--json'], SINCE)).stdout);
  expect(violations('status', told)).toEqual([]);
  expect(told.gaps).toMatchObject([
    {
      stream: 'events',
      from: dayAgo(3),
      state: 'failed',
      command: expect.stringContaining('daywalk backfill'),
    },
    { stream: 'smart-event', from: dayAgo(3), to: dayAgo(1), state: 'missing' },
    { stream: 'events', from: dayAgo(2), to: dayAgo(1), state: 'missing' },
  ]);
  const status = await scene.succeed(['status'], SINCE);
  expect(status.stdout).toMatch(/events: 1 of 4 days complete/);
  expect(status.stdout).toMatch(
    /^6 of 8 closed days are not complete: 1 failed; 5 not walked yet\.$/m,
  );
  expect((await scene.run(['gaps'], SINCE)).stdout).toMatch(
    new RegExp(`^smart-event: ${dayAgo(3)} to ${dayAgo(1)} not walked yet$`, 'm'),
  );
  const json = await scene.run(['gaps', '--json'], SINCE);
  expect(json.code).toBe(3);
  expect(JSON.parse(json.stdout)).toHaveLength(6);
  // Neither of a day that failed nor of one that nobody walked was anything compared.
  for (const day of [dayAgo(3), dayAgo(9)]) {
    const verified = await scene.run(
      ['verify', '--from', day, '--to', day, '--stream', 'events'],
      SINCE,
    );
    expect(verified).toMatchObject({ code: 3 });
    expect(verified.stdout).toMatch(
      day === dayAgo(3)
        ? /^Nothing to compare: no window is complete there\./
        : /^Nothing to compare: those days are before the first day of the stream\.$/m,
    );
  }
  await scene.succeed(['verify', '--from', dayAgo(4), '--to', dayAgo(3)], SINCE);

  // What no day is stored of: it is too new, or before the first day.
  const folder = temporaryFolder();
  const read = (...args: string[]) => scene.run([...args, '--stream', 'events'], SINCE);
  expect((await read('export', '--out', folder, '--from', 'today')).stdout).toMatch(
    /^Nothing to export: no day is closed there, or /,
  );
  expect((await read('search', 'x', '--from', 'today')).stdout).toMatch(
    /^events: no day to search: none is closed there, or /,
  );
  const old = ['--from', dayAgo(9), '--to', dayAgo(8)];
  expect((await read('search', 'x', ...old)).stdout).toMatch(
    /`daywalk backfill .*` walks what is before the first day/,
  );
  expect((await read('export', '--out', folder, ...old)).stdout).toContain(
    `missing: before the first day of the stream; daywalk backfill ${old.join(' ')} --stream events\n`,
  );
  expect(
    (await read('export', '--out', folder, '--from', dayAgo(4), '--to', 'today')).stdout,
  ).toMatch(/missing: not closed or planned yet$/m);
  const { stderr } = await read('verify', '--deep', '--from', 'today', '--to', 'today');
  expect(stderr).toMatch(
    /^daywalk: flag --from: .* is not closed yet, .*; the newest closed day is /,
  );
});

test('a day of which only a midnight is to be checked is walked, says its story', async () => {
  const scene = await setScene();
  await scene.succeed(['backfill', '--from', dayAgo(2), '--to', dayAgo(2)], SINCE);
  await scene.database.query(
    `update daywalk.windows set state = 'pending', due_at = clock_timestamp()
      where kind = 'cut' and day = $1::date and stream_id = (select stream_id from daywalk.streams where name = 'events')`,
    [dayAgo(2)],
  );
  expect((await scene.run(['why', dayAgo(2)], SINCE)).stdout).toContain(
    `events ${dayAgo(2)}: walked, midnight not checked yet`,
  );
  const document = JSON.parse((await scene.succeed(['status', '--json'], SINCE)).stdout);
  expect(violations('status', document)).toEqual([]);
  expect(document.gaps).toContainEqual(expect.objectContaining({ state: 'walked' }));
  await scene.succeed(['run'], SINCE);
  expect((await scene.succeed(['gaps'], SINCE)).stdout).toMatch(/^No gaps/);
});

test('a quiet run and status tell a since in the future, too', async () => {
  const scene = await setScene();
  const environment = { ...SINCE, DAYWALK_SINCE: '2999-01-01' };
  const ran = await scene.run(['run', '--quiet'], environment);
  expect(ran.stderr).toMatch(/begins on 2999-01-01 \(since\), in the future/);
  const { stdout } = await scene.succeed(['status'], environment);
  expect(stdout).toMatch(
    /^events: begins on 2999-01-01 \(since\), in the future; until then no new day is planned$/m,
  );
  expect(stdout).not.toMatch(/every closed day is complete/);
});

test('shows as many months as are asked for', async () => {
  const scene = await setScene();
  const far = { ...SINCE, DAYWALK_SINCE: dayAgo(70) };
  await scene.succeed(['backfill', '--from', dayAgo(70), '--to', dayAgo(70)], far);
  const rows = ({ stdout }: { stdout: string }) => stdout.match(/^\d{4}-\d\d/gm) ?? [];
  expect(rows(await scene.succeed(['status'], far)).length).toBeGreaterThan(2);
  const one = await scene.succeed(['status', '--months', '1'], far);
  expect(rows(one)).toHaveLength(1);
  expect(one.stdout).toMatch(new RegExp(`^events: .*, from ${dayAgo(70)} on \\(--months`, 'm'));
  const wrong = await scene.run(['status', '--months', 'all'], far);
  expect(wrong).toMatchObject({ code: 2 });
  expect(wrong.stderr).toMatch(/--months: "all"[\s\S]*from 1 to/);
});

test('doctor in JSON, and red with what to do', async () => {
  const scene = await setScene();
  const json: { state: string }[] = JSON.parse((await scene.succeed(['doctor', '--json'])).stdout);
  // The database of the tests runs without fsync, and the doctor may say so.
  expect(json.filter(({ state }) => state !== 'ok' && state !== 'warning')).toEqual([]);
  const wrongKey = await scene.run(['doctor'], { DAYWALK_API_KEY: 'other' });
  expect(wrongKey).toMatchObject({ code: 4 });
  expect(wrongKey.stdout).toMatch(/✗ stream events .*401[\s\S]*→ .*DAYWALK_API_KEY/);
  expect(wrongKey.stderr).not.toMatch(/^\s+at /m);

  const wrongPath = await scene.run(['doctor'], { DAYWALK_API_URL: `${scene.api.url}/x` });
  expect(wrongPath).toMatchObject({ code: 2 });
  expect(wrongPath.stdout).toMatch(/✗ stream events .*404[\s\S]*→ .*api\.url/);
  expect(wrongPath.stderr).not.toMatch(/^\s+at /m);

  const database = new URL(scene.database.url);
  database.password = 'wrong-one';
  const wrong = await scene.run(['doctor'], { DATABASE_URL: database.href });
  if (wrong.code === 0) return; // This server asks for no password.
  expect(wrong).toMatchObject({ code: 2 });
  expect(wrong.stdout).toMatch(/✗ database .*authentication failed[\s\S]*→ .*DATABASE_URL/);
  expect(wrong.stderr).not.toMatch(/^\s+at /m);
});

test('status shows what runs now in JSON, of two streams', async () => {
  const scene = await setScene({
    faults: [
      {
        // Every day of events stands still behind its first page.
        kind: 'stall',
        when: ({ resource, query }) => resource === 'events' && query.start !== '0',
      },
    ],
  });
  const program = scene.start(['run'], SINCE);
  await until('a page of events', async () => {
    const walks = await scene.database.query(
      `select from daywalk.walks join daywalk.windows using (window_id) join daywalk.streams using (stream_id)
        where resource = 'events' and kind = 'day' and pages > 0`,
    );
    return walks.length > 0;
  });
  const json = JSON.parse((await scene.succeed(['status', '--json'], SINCE)).stdout);
  expect(json.running).not.toEqual([]);
  expect(violations('status', json)).toEqual([]);
  program.kill('SIGTERM');
  await program.ended;
});
