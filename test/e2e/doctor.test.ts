/** `daywalk doctor` finds what a run would meet, quickly: it tries once, and says each thing in one line. */
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { dayAgo } from '../support/days.ts';
import { layLine } from '../support/line.ts';
import { API_KEY, runProgram, temporaryFolder } from '../support/program.ts';
import { setScene } from '../support/scene.ts';

const CLOSED = 'http://127.0.0.1:1';
const linesOf = (text: string) => text.trimEnd().split('\n');

describe('who is away is asked once', () => {
  test('an API that nobody listens at', async () => {
    const scene = await setScene();
    const ended = await scene.run(['doctor'], { DAYWALK_API_URL: CLOSED });
    expect(ended).toMatchObject({ code: 5, stderr: '' });
    expect(ended.stdout).toMatch(/^✗ stream events .*refused by 127\.0\.0\.1:1/m);
    expect(ended.stdout).not.toMatch(/attempts/);
    expect(ended.stdout).toMatch(/^- stream smart-event +not asked for, because the API is away$/m);
  });

  test.each([503, 429])('an API that answers %i', async (status) => {
    const scene = await setScene({ faults: [{ kind: 'status', status, retryAfter: 60 }] });
    const ended = await scene.run(['doctor']);
    expect(ended).toMatchObject({ code: 5, stderr: '' });
    expect(scene.api.counts.requests).toBe(1);
  });

  test('a database that is down: one line, by doctor and by status', async () => {
    const scene = await setScene();
    const environment = { DATABASE_URL: 'postgres://daywalk@127.0.0.1:1/daywalk' };
    const doctor = await scene.run(['doctor'], environment);
    expect(doctor).toMatchObject({ code: 5, stderr: '' });
    expect(linesOf(doctor.stdout).filter((line) => line.includes('ECONNREFUSED'))).toHaveLength(1);
    const status = await scene.run(['status'], environment);
    expect(status).toMatchObject({ code: 5, stdout: '' });
    expect(linesOf(status.stderr)).toHaveLength(2);
    expect(status.stderr).toMatch(/^daywalk: .*ECONNREFUSED.*\n {2}Is Postgres running/);
  });

  test('a database behind a line that is silent, and an API behind another', async () => {
    const scene = await setScene();
    const [database, api] = await Promise.all(
      [scene.database.url, scene.api.url].map((url) => layLine(Number(new URL(url).port || 5432))),
    );
    database?.freeze();
    api?.freeze();
    const ended = await scene.run(['doctor'], {
      DATABASE_URL: database?.over(scene.database.url),
      DAYWALK_API_URL: api?.over(scene.api.url),
      DAYWALK_PAGE_TIMEOUT: '1s',
    });
    expect(ended).toMatchObject({ code: 5, stderr: '' });
    expect(ended.stdout).toMatch(/^✗ database .*\n.*→/m);
    expect(ended.stdout).toMatch(/^✗ stream events .*1 s/m);
    await Promise.all([database?.close(), api?.close()]);
  });
});

test('a stream whose filters changed is red, as a run would refuse it', async () => {
  const scene = await setScene();
  const folder = temporaryFolder();
  const options = { folder, environment: scene.environment };
  const file = join(folder, 'daywalk.yaml');
  await writeFile(file, 'streams:\n  events:\n');
  const range = ['--from', '2026-03-01', '--to', '2026-03-01'];
  expect(await runProgram(['backfill', ...range], options)).toMatchObject({ code: 0 });
  await writeFile(file, 'streams:\n  events:\n    filters:\n      rule_level_from: 12\n');
  const refused = await runProgram(['run'], options);
  const [, says = 'nothing'] = /daywalk: (.*)/.exec(refused.stderr) ?? [];
  const ended = await runProgram(['doctor'], options);
  expect(ended.code).toBe(refused.code);
  const red = linesOf(ended.stdout).filter((line) => line.startsWith('✗ filters events'));
  expect(red).toEqual([expect.stringContaining(says)]);
});

test('the last failure, and a last run that ended early', async () => {
  const scene = await setScene({ faults: [{ kind: 'html' }] });
  const range = ['--from', '2026-03-01', '--to', '2026-03-02'];
  expect(await scene.run(['backfill', ...range, '--stream', 'events'])).toMatchObject({ code: 3 });
  scene.api.set({ faults: [] });
  const failed = await scene.succeed(['doctor']);
  expect(failed.stdout).toMatch(
    /^! last failure +2 days failed, the newest is 2026-03-02 of events: .*HTML page.*\n.*→ `daywalk gaps`/m,
  );
  const closed = { DAYWALK_API_URL: CLOSED, DAYWALK_RETRY_TIME: '100ms' };
  expect(await scene.run(['backfill', ...range, '--only', 'all'], closed)).toMatchObject({
    code: 5,
  });
  const early = await scene.succeed(['doctor']);
  expect(early.stdout).toMatch(/^! last run +the last run, of .* UTC, ended early: .*refused/m);
});

test('files of secrets that others can read', async () => {
  const scene = await setScene();
  const folder = temporaryFolder();
  const [key, url] = [join(folder, 'key'), join(folder, 'url')];
  await writeFile(key, API_KEY);
  await writeFile(url, scene.database.url);
  await chmod(key, 0o644);
  await chmod(url, 0o600);
  const { DATABASE_URL: _, DAYWALK_API_KEY: __, ...rest } = scene.environment;
  const environment = { ...rest, DAYWALK_API_KEY_FILE: key, DATABASE_URL_FILE: url };
  const ended = await runProgram(['doctor'], { environment });
  expect(ended, ended.stderr).toMatchObject({ code: 0 });
  expect(ended.stdout).toMatch(
    /^! secrets +.*\/key is open to others \(mode 644\)\n.*→ chmod 600/m,
  );
  expect(ended.stdout).toMatch(/^✓ secrets +the file of a secret is closed to others$/m);
});

test('a since in the future', async () => {
  const scene = await setScene();
  const ended = await scene.succeed(['doctor'], { DAYWALK_SINCE: '2999-01-01' });
  expect(ended.stdout).toMatch(/^! since +events: begins on 2999-01-01 \(since\), in the future/m);
});

describe('the time zone, by the records at the edges of a day', () => {
  test.each([
    ['America/New_York', 'America/New_York', /^✓ time zone events .*America\/New_York$/m],
    [
      'America/New_York',
      'UTC',
      /^! time zone events .*by about UTC-0[45]:00,.*timezone is UTC\n.*→ Set timezone/m,
    ],
    [
      'UTC',
      'Asia/Kolkata',
      /^! time zone events .*by about UTC\+00:00,.*timezone is Asia\/Kolkata\n.*→ Set timezone to the zone of the source \(UTC, if it has no summer time\);/m,
    ],
    ['Asia/Kolkata', 'UTC', /^! time zone events .*by about UTC\+05:30,/m],
  ])('the source has %s, the settings %s', async (timeZone, set, expected) => {
    const scene = await setScene({ timeZone, eventsPerDay: 2000 });
    const ended = await scene.succeed(['doctor'], {
      DAYWALK_TIMEZONE: set,
      DAYWALK_PAGE_LENGTH: '200',
    });
    expect(ended.stdout).toMatch(expected);
  });
});

test('a page length that the API refuses is no failure: a shorter one is asked for, as by a run', async () => {
  const scene = await setScene({ maxLength: { limit: 150, status: 400 } });
  const long = { DAYWALK_PAGE_LENGTH: '200', DAYWALK_SINCE: dayAgo(1) };
  await scene.succeed(['migrate']);
  const note = /^✓ length events +pages go up to 100 records; page_length is 200\n.*→ A run finds/m;
  expect((await scene.succeed(['doctor'], long)).stdout).toMatch(note);
  await scene.succeed(['run'], long);
  const { requests } = scene.api.counts;
  expect((await scene.succeed(['doctor'], long)).stdout).toMatch(note);
  // For each stream a first page and the two edges of its day.
  expect(scene.api.counts.requests - requests).toBe(6);
});

test('a refused key is told of the stream that was asked for', async () => {
  const scene = await setScene();
  const key = { DAYWALK_API_KEY: 'another-key-of-mine' };
  expect(await scene.run(['run'], key)).toMatchObject({ code: 4 });
  const { stdout } = await scene.run(['doctor'], key);
  expect(stdout).toMatch(/ended early: .*401.*\n +→ With a key that is taken the next run goes on/);
  expect(stdout).toMatch(/^✗ stream events .*401/m);
  expect(stdout).toMatch(/^- stream smart-event +not asked for, because the API refused the key$/m);
});

describe('a number that may be a total', () => {
  const suggestion =
    /^! total events +result\.count looks like a total: .*\n.*→ Set total_path: result\.count; without it about twice as many requests/m;

  test('is suggested where it behaves like one, by init too, and taken it saves requests', async () => {
    const scene = await setScene({ envelope: 'nested' });
    const folder = temporaryFolder();
    const options = { folder, environment: { ...scene.environment, DAYWALK_SINCE: dayAgo(2) } };
    expect((await scene.succeed(['doctor'])).stdout).toMatch(suggestion);
    const init = await runProgram(['init'], options);
    expect(init.stdout).toMatch(suggestion);
    const set = await scene.succeed(['doctor'], { DAYWALK_TOTAL_PATH: 'result.count' });
    expect(set.stdout).not.toMatch(/looks like a total/);
  });

  test.each(['page', { off: 7 }, { off: -7 }] as const)(
    'is not where it counts something else (%j)',
    async (totals) => {
      const scene = await setScene({ envelope: 'nested', totals });
      expect((await scene.succeed(['doctor'])).stdout).not.toMatch(/looks like a total/);
    },
  );
});

describe('a stream without records', () => {
  const NOTHING = {
    'a 204': { kind: 'body', body: '', status: 204 },
    null: { kind: 'body', body: 'null' },
    'an object without a list': { kind: 'body', body: '{"message": "no events"}' },
  } as const;

  test.each(Object.entries(NOTHING))(
    'that says so by %s is told, and is no error',
    async (_, answer) => {
      const scene = await setScene({
        respond: ({ resource }) => (resource === 'smart-event' ? answer : undefined),
      });
      await scene.succeed(['migrate']);
      const { stdout } = await scene.succeed(['doctor']);
      expect(stdout).toMatch(/^! stream smart-event +API reached, key accepted.*no records from/m);
      expect(stdout).toMatch(
        /^ +→ .*an empty list comes and no word beside it, and wait otherwise/m,
      );
    },
  );

  test('on its newest day shows what its records look like on an older one', async () => {
    const scene = await setScene({
      respond: ({ query }) =>
        query.fromDate?.startsWith(dayAgo(1)) ? { kind: 'body', body: 'null' } : undefined,
    });
    await scene.succeed(['migrate']);
    const { stdout } = await scene.succeed(['doctor']);
    expect(stdout).toMatch(/^✓ stream events +API reached.*records at data, total at/m);
    expect(stdout).toMatch(/^✓ identity events /m);
  });

  test('everywhere by a 404 is an error: the path may be wrong', async () => {
    const scene = await setScene({
      respond: () => ({ kind: 'body', body: '{"message": "not found"}', status: 404 }),
    });
    await scene.succeed(['migrate']);
    const ended = await scene.run(['doctor']);
    expect(ended).toMatchObject({ code: 2, stderr: '' });
    expect(ended.stdout).toMatch(/^✗ stream events .*404/m);
  });
});
