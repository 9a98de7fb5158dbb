/** `daywalk doctor` finds what a run would meet, quickly: it tries once, and says each thing in one line. */
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { dayAgo } from '../support/days.ts';
import { startHookServer } from '../support/hook-server.ts';
import { layLine } from '../support/line.ts';
import { atNight } from '../support/night.ts';
import { API_KEY, temporaryFolder } from '../support/program.ts';
import { runHere } from '../support/program-here.ts';
import { setScene } from '../support/scene.ts';
import {
  CLOSED,
  examined,
  expectNoTotalIn,
  expectNothingTold,
  expectZoneTold,
  LONG_PAGES,
  linesOf,
  listing,
  SHORTER_PAGES,
  SUGGESTED_TOTAL,
} from './examined.ts';

describe('who is away is asked once', () => {
  test('an API that nobody listens at', async () => {
    const scene = await setScene();
    const ended = await scene.run(['doctor'], { DAYWALK_API_URL: CLOSED });
    expect(ended).toMatchObject({ code: 5, stderr: '' });
    expect(ended.stdout).toMatch(/^✗ stream events .*ECONNREFUSED 127\.0\.0\.1:1/m);
    expect(ended.stdout).not.toMatch(/attempts/);
    expect(ended.stdout).toMatch(/^- stream smart-event +not asked for, because the API is away$/m);
  });

  atNight('an API that answers 503', async () => {
    const scene = await setScene({ faults: [{ kind: 'status', status: 503, retryAfter: 60 }] });
    const ended = await scene.run(['doctor']);
    expect(ended).toMatchObject({ code: 5, stderr: '' });
    expect(scene.api.counts.requests).toBe(1);
  });

  test('a database behind a line that is silent, and an API behind another', async () => {
    const scene = await setScene();
    const [database, api] = await Promise.all(
      [scene.database.url, scene.api.url].map((url) => layLine(Number(new URL(url).port || 5432))),
    );
    database?.freeze();
    api?.freeze();
    const ended = await scene.here(['doctor'], {
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

atNight(
  'the last failure, a last run that ended early, and filters that changed, as a run would refuse them',
  async () => {
    const scene = await setScene({ faults: [{ kind: 'html' }] });
    const range = ['--from', '2026-03-01', '--to', '2026-03-02'];
    expect(await scene.run(['backfill', ...range, '--stream', 'events'])).toMatchObject({
      code: 3,
    });
    scene.api.set({ faults: [] });
    const closed = { DAYWALK_API_URL: CLOSED, DAYWALK_RETRY_TIME: '100ms' };
    expect(await scene.run(['backfill', ...range, '--only', 'all'], closed)).toMatchObject({
      code: 5,
    });

    const file = join(temporaryFolder(), 'daywalk.yaml');
    await writeFile(file, 'streams:\n  events:\n    filters:\n      rule_level_from: 12\n');
    const filtered = { DAYWALK_CONFIG: file };
    const refused = await scene.run(['run'], filtered);
    const [, says = 'nothing'] = /daywalk: (.*)/.exec(refused.stderr) ?? [];
    const ended = await scene.run(['doctor'], filtered);
    expect(ended.code).toBe(refused.code);
    const red = linesOf(ended.stdout).filter((line) => line.startsWith('✗ filters events'));
    expect(red).toEqual([expect.stringContaining(says)]);
    expect(ended.stdout).toMatch(
      /^! last failure +2 days failed, the newest is 2026-03-02 of events: .*HTML page.*\n.*→ `daywalk gaps`/m,
    );
    expect(ended.stdout).toMatch(
      /^! last run +the last run, of .* UTC, ended early: .*ECONNREFUSED/m,
    );
  },
);

test('files of secrets that others can read, and a since in the future', async () => {
  const scene = await setScene();
  const folder = temporaryFolder();
  const [key, url] = [join(folder, 'key'), join(folder, 'url')];
  await writeFile(key, API_KEY);
  await writeFile(url, scene.database.url);
  await chmod(key, 0o644);
  await chmod(url, 0o600);
  const { DATABASE_URL: _, DAYWALK_API_KEY: __, ...rest } = scene.environment;
  const environment = {
    ...rest,
    DAYWALK_API_KEY_FILE: key,
    DATABASE_URL_FILE: url,
    DAYWALK_SINCE: '2999-01-01',
  };
  const ended = await runHere(['doctor'], { environment });
  expect(ended, ended.stderr).toMatchObject({ code: 0 });
  expect(ended.stdout).toMatch(
    /^! secrets +.*\/key is open to others \(mode 644\)\n.*→ chmod 600/m,
  );
  expect(ended.stdout).toMatch(/^✓ secrets +closed to others: 1 file$/m);
  expect(ended.stdout).toMatch(/^! since +events: begins on 2999-01-01 \(since\), in the future/m);
});

test('a webhook is sent a test message where that is asked for, and what it answers is said without its address', async () => {
  const scene = await setScene();
  const hook = await startHookServer();
  const environment = {
    DAYWALK_WEBHOOK_URL: `${hook.url}/T0/s3cr3t`,
    DAYWALK_WEBHOOK_FORMAT: 'slack',
  };
  const untried = await scene.here(['doctor'], environment);
  expect(untried.stdout).toMatch(/^- webhook +not tried; `daywalk doctor --test-webhook` sends/m);
  expect(hook.got).toEqual([]);

  const taken = await scene.here(['doctor', '--test-webhook'], environment);
  expect(taken).toMatchObject({ code: 0, stderr: '' });
  expect(taken.stdout).toMatch(/^✓ webhook +took a test message \(slack\)/m);
  expect(JSON.parse(hook.got[0]?.body ?? '')).toEqual({
    text: expect.stringMatching(/^daywalk on .*: this is a test\n.*Nothing is wrong\.$/),
  });

  hook.answer(404);
  const refused = await scene.here(['doctor', '--test-webhook'], environment);
  expect(refused).toMatchObject({ code: 2, stderr: '' });
  expect(refused.stdout).toMatch(/^✗ webhook +.*not delivered: answered 404\n +→ Is DAYWALK_W/m);
  expect(refused.stdout).not.toContain('s3cr3t');
  const unset = await scene.here(['doctor', '--test-webhook']);
  expect(unset.stdout).toMatch(/^✗ webhook +.*not delivered: none is set\n +→ Put its URL/m);
});

test('certificates that cannot be used are a finding beside the others', async () => {
  const scene = await setScene();
  const file = join(temporaryFolder(), 'ca.pem');
  await writeFile(file, 'no certificate');
  const ended = await scene.here(['doctor'], { DAYWALK_API_CA_FILE: file });
  expect(ended, ended.stderr).toMatchObject({ code: 2 });
  expect(ended.stdout).toMatch(/^✓ database +PostgreSQL /m);
  expect(ended.stdout).toMatch(
    /^✗ API +the file of api.ca_file holds no readable PEM certificate\n.*→ it is/m,
  );
});

describe('the time zone, by the records at the edges of a day', () => {
  test('the source is west of the settings', () =>
    expectZoneTold(
      'America/New_York',
      'UTC',
      /^! time zone events .*by about UTC-0[45]:00,.*timezone is UTC\n.*→ Set timezone/m,
    ));

  test.each([
    ['Europe/Berlin', 'Europe/Berlin', '2025-10-26', /^✓ time zone events +records at both edges/m],
    ['Pacific/Auckland', 'Pacific/Auckland', '2025-09-28', /^✓ time zone events +records at both/m],
    ['Europe/Berlin', 'UTC', '2025-10-26', /^! time zone events .* by about UTC\+0[12]:00,/m],
  ])('on a day on which the clocks of %s change, with %s set', (source, set, day, says) =>
    expectZoneTold(source, set, says, day),
  );
});

test('an API that does not heed where a range ends', async () => {
  const times = Array.from(
    { length: 40 },
    (_, hour) => new Date(Date.parse(`${dayAgo(2)}T00:30:00Z`) + hour * 3_600_000),
  );
  const scene = await setScene({
    respond: ({ query: { fromDate = '' } }) => {
      const from = Date.parse(`${fromDate.replace(' ', 'T')}Z`);
      const data = times.flatMap((time, id) =>
        time.getTime() >= from ? { id, timestamp: time.toISOString() } : [],
      );
      return { body: JSON.stringify({ total: data.length, data }) };
    },
  });
  expect((await scene.succeedHere(['doctor'])).stdout).toMatch(
    /^! range events +the first and the last hour of .* show records whose times are not in them.*\n.*→ Does the API heed fromDate and toDate/m,
  );
});

test('an API that heeds no range at all, of so many events that a page spans some minutes', async () => {
  const day = dayAgo(1);
  const respond = () => {
    const data = Array.from({ length: 50 }, (_, id) => {
      return { id, timestamp: new Date(Date.parse(`${day}T00:30:00Z`) + id * 1000).toISOString() };
    });
    return { body: JSON.stringify({ total: data.length, data }) };
  };
  const { said } = await examined({ respond }, { DAYWALK_TIMEZONE: 'UTC' }, day);
  expect(said).toMatch(/^! range events .*\n.*→ Does the API heed fromDate and toDate/m);
  expect(said).not.toMatch(/Set timezone/);
});

test('a page length that the API refuses is no failure: a shorter one is asked for, as by a run', async () => {
  const scene = await setScene({ maxLength: { limit: 150, status: 400 } });
  expect((await scene.succeedHere(['doctor'], LONG_PAGES())).stdout).toMatch(SHORTER_PAGES);
});

test.each<[boolean, RegExp]>([
  [true, /^✓ stream events .*records at data/m],
  [false, /^✗ stream events .*tells of a failure: "status: "running""/m],
])(
  'a day without records, of a service that says that it runs; records on the day before: %s',
  async (any, says) => {
    const scene = await setScene({
      respond: ({ query: { fromDate = '' } }) => {
        const data = any && fromDate < dayAgo(1) ? [{ id: 1 }, { id: 2 }] : [];
        return { body: JSON.stringify({ status: 'running', total: data.length, data }) };
      },
    });
    expect((await scene.here(['doctor'])).stdout).toMatch(says);
  },
);

test('an API that takes a few requests a second is asked no faster than rate says, as by a run', async () => {
  const rateLimit = { perSecond: 8, burst: 3, retryAfter: 'none' } as const;
  const scene = await setScene({ rateLimit });
  await scene.succeedHere(['doctor'], { DAYWALK_RATE: '5/s' });
  const { requests, byStatus } = scene.api.counts;
  expect(requests).toBeGreaterThan(3);
  expect(byStatus).toEqual({ 200: requests });
});

test('a refused key is told of the stream that was asked for', async () => {
  const scene = await setScene();
  const ended = await scene.here(['doctor'], { DAYWALK_API_KEY: 'another-key-of-mine' });
  expect(ended).toMatchObject({ code: 4 });
  expect(ended.stdout).toMatch(/^✗ stream events .*401/m);
  expect(ended.stdout).toMatch(
    /^- stream smart-event +not asked for, because the API refused the key$/m,
  );
});

test('an id_path that numbers the rows of an answer is told, and one that stays with its record is not', async () => {
  const respond = listing(({ row, number }) => ({ id: row, key: 48_211 + number }));
  const told =
    /^! identity events +id is another one for the same records.*\n.*→ Take id_path out/m;
  expect((await examined({ respond }, { DAYWALK_ID_PATH: 'id' })).said).toMatch(told);
  expect((await examined({ respond }, { DAYWALK_ID_PATH: 'key' })).said).not.toMatch(/identity/);
});

test('a record nested deeper than a stack holds is compared with others', async () => {
  const listed = listing(({ number }) => ({ id: `e${number}`, raw: number === 0 ? 'deep' : '' }));
  const deep = `${'['.repeat(9_000)}${']'.repeat(9_000)}`;
  const respond = (...asked: Parameters<typeof listed>) => {
    const { body } = listed(...asked) as { body: string };
    return { body: body.replace('"deep"', deep) };
  };
  expect((await examined({ respond })).identities).toEqual(['id', 'id']);
});

describe('a number that may be a total', () => {
  test('is suggested where it behaves like one', async () => {
    expect((await examined({ envelope: 'nested' })).said).toMatch(SUGGESTED_TOTAL);
  });

  atNight('is not where it counts something else', () => expectNoTotalIn({ off: 7 }));
});

describe('a stream without records', () => {
  test('that says so is told, and is no error', () =>
    expectNothingTold({ kind: 'body', body: '{"message": "no events"}' }));

  test('on its newest day shows what its records look like on an older one', async () => {
    const scene = await setScene({
      respond: ({ query }) =>
        query.fromDate?.startsWith(dayAgo(1)) ? { kind: 'body', body: 'null' } : undefined,
    });
    const { stdout } = await scene.succeedHere(['doctor']);
    expect(stdout).toMatch(/^✓ database +PostgreSQL \d+/m);
    expect(stdout).toMatch(
      /^✓ time zone +UTC: the newest closed day is [\d-]{10}, closed at [\d-]{10} 01:00 UTC$/m,
    );
    expect(stdout).toMatch(/^✓ stream events +API reached.*records at data, total at/m);
    expect(stdout).toMatch(/^✓ identity events /m);
  });

  test('everywhere by a 404 is an error: the path may be wrong', async () => {
    const scene = await setScene({
      respond: () => ({ kind: 'body', body: '{"message": "not found"}', status: 404 }),
    });
    const ended = await scene.here(['doctor']);
    expect(ended).toMatchObject({ code: 2, stderr: '' });
    expect(ended.stdout).toMatch(/^✗ stream events .*404/m);
  });
});

test.each([
  [
    -2,
    /^! API clock +the clock of the API is 2 h 00 min behind this machine's.*\n.*settle should be longer/m,
  ],
  [0, /^✓ API clock +the API and this machine agree/m],
])('an API whose clock is off by %i hours', async (hours, said) => {
  const respond = () => ({
    headers: { date: new Date(Date.now() + hours * 3_600_000).toUTCString() },
    body: JSON.stringify({
      recordsTotal: 1,
      data: [{ id: 'a', timestamp: `${dayAgo(1)}T10:00:00Z` }],
    }),
  });
  expect((await examined({ respond })).said).toMatch(said);
});
