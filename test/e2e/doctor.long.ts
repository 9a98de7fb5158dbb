/** More sources and refusals for `daywalk doctor` than e2e/doctor.test.ts has. */
import { expect, test } from 'vitest';
import { dayAgo } from '../support/days.ts';
import { runProgram, temporaryFolder } from '../support/program.ts';
import { setScene } from '../support/scene.ts';
import {
  expectNoTotalIn,
  expectNothingTold,
  expectZoneTold,
  LONG_PAGES,
  linesOf,
  SHORTER_PAGES,
  SUGGESTED_TOTAL,
} from './examined.ts';

test('an API that answers 429 is asked once', async () => {
  const scene = await setScene({ faults: [{ kind: 'status', status: 429, retryAfter: 60 }] });
  const ended = await scene.run(['doctor']);
  expect(ended).toMatchObject({ code: 5, stderr: '' });
  expect(scene.api.counts.requests).toBe(1);
});

test('a database that is down is one line, by doctor and by status', async () => {
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

test.each([
  [
    'UTC',
    'Asia/Kolkata',
    /^! time zone events .*by about UTC\+00:00,.*timezone is Asia\/Kolkata\n.*→ Set timezone to the zone of the source \(UTC, if it has no summer time\);/m,
  ],
  ['America/New_York', 'America/New_York', /^✓ time zone events .*America\/New_York$/m],
  ['Asia/Kolkata', 'UTC', /^! time zone events .*by about UTC\+05:30,/m],
] as const)('the source has %s, the settings %s', expectZoneTold);

test('a total is suggested by init, too, and not where it is taken', async () => {
  const scene = await setScene({ envelope: 'nested' });
  const environment = { ...scene.environment, DAYWALK_SINCE: dayAgo(2) };
  const init = await runProgram(['init'], { folder: temporaryFolder(), environment });
  expect(init.stdout).toMatch(SUGGESTED_TOTAL);
  const set = await scene.succeed(['doctor'], { DAYWALK_TOTAL_PATH: 'result.count' });
  expect(set.stdout).not.toMatch(/looks like a total/);
});

test.each(['page', { off: -7 }] as const)(
  'no total is suggested where a number counts something else (%j)',
  expectNoTotalIn,
);

test.each([
  ['a 204', { kind: 'body', body: '', status: 204 }],
  ['null', { kind: 'body', body: 'null' }],
] as const)('a stream that says by %s that it has no records is no error', (_, answer) =>
  expectNothingTold(answer),
);

test('doctor asks with the page length that a run has found', async () => {
  const scene = await setScene({ maxLength: { limit: 150, status: 400 } });
  const long = LONG_PAGES();
  expect((await scene.succeed(['doctor'], long)).stdout).toMatch(SHORTER_PAGES);
  await scene.succeed(['run'], long);
  const { requests } = scene.api.counts;
  expect((await scene.succeed(['doctor'], long)).stdout).toMatch(SHORTER_PAGES);
  // For each stream a first page, half of it again, and the two edges of its day.
  expect(scene.api.counts.requests - requests).toBe(8);
});

test('a run that ended early with a refused key is told', async () => {
  const scene = await setScene();
  const key = { DAYWALK_API_KEY: 'another-key-of-mine' };
  expect(await scene.run(['run'], key)).toMatchObject({ code: 4 });
  const { stdout } = await scene.run(['doctor'], key);
  expect(stdout).toMatch(/ended early: .*401.*\n +→ Once the key is right, the next run goes on/);
  expect(stdout).toMatch(/^✗ stream events .*401/m);
  expect(stdout).toMatch(/^- stream smart-event +not asked for, because the API refused the key$/m);
});
