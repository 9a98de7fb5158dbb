/** What `roles` has no time for: each verb of the program as the worker, the auditor, and a worker that moves days. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createEmptyDatabase } from '../support/database.ts';
import { expectExact } from '../support/multiset.ts';
import { startProgram, temporaryFolder } from '../support/program.ts';
import { endLooks } from '../support/publishing.ts';
import { DAYS, RANGE, type Roles, rolesOfThisFile } from './roles-scene.ts';

const ARCHIVE_KEY = 'of-the-archive';

let roles: Roles;
let worker: string;

rolesOfThisFile(async (made) => {
  roles = made;
  worker = await roles.newRole('worker');
  await roles.give('let_work', worker);
  return async () => {};
});

/** The program does all of this as the role; what it said. */
async function does(
  role: string,
  verbs: readonly (readonly string[])[],
  more: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  const said = [];
  for (const args of verbs) {
    const ended = await roles.run(role, args, more);
    expect(ended, `${args.join(' ')}:\n${ended.stdout}${ended.stderr}`).toMatchObject({ code: 0 });
    said.push(ended.stdout);
  }
  return said;
}

it('the worker exports, walks again, and answers every reading verb', async () => {
  await does(worker, [
    ['doctor'],
    ['backfill', ...RANGE],
    ['backfill', ...RANGE, '--only', 'all'],
    ['status', '--json'],
    ['why', DAYS.from],
    ['verify', ...RANGE],
    ['verify', ...RANGE, '--offline'],
    ['search', 'nothing of this kind', ...RANGE],
  ]);
  await expectExact({ api: roles.api, database: roles.server }, DAYS);
});

it('the auditor answers every verb that writes nothing, and serves the archive', async () => {
  const auditor = await roles.newRole('auditor');
  await roles.give('let_audit', auditor);
  await does(auditor, [
    ['status', '--json'],
    ['why', DAYS.from],
    ['fields'],
    ['search', 'nothing of this kind', ...RANGE],
    ['export', '--out', temporaryFolder(), ...RANGE],
    ['verify', '--offline'],
  ]);
  const program = startProgram(['serve-archive', '--archive-listen', '127.0.0.1:0'], {
    environment: { DATABASE_URL: roles.urlOf(auditor), DAYWALK_ARCHIVE_KEY: ARCHIVE_KEY },
  });
  const [url] = await program.saying(/http:\/\/127\.0\.0\.1:\d+/);
  const window = `fromDate=${DAYS.from}%2000%3A00%3A00&toDate=${DAYS.to}%2023%3A59%3A59`;
  const answer = await fetch(`${url}/api/events?start=0&length=1&${window}`, {
    headers: { 'X-API-Key': ARCHIVE_KEY },
  });
  expect({ status: answer.status, body: await answer.text() }).toMatchObject({ status: 200 });
  program.kill('SIGTERM');
  await program.ended;
});

it('a worker that moves days moves them, and brings them back', async () => {
  const mover = await roles.newRole('mover');
  await roles.give('let_move', mover);
  await endLooks(roles.server);
  const said = await does(
    mover,
    [
      ['tier', '--older-than', '1d'],
      ['verify', '--offline'],
      ['tier', '--restore', ...RANGE],
    ],
    { DAYWALK_TIER_URL: temporaryFolder() },
  );
  expect(said[0]).toMatch(/^4 days moved to /m);
  expect(said[1]).toMatch(/^Everything that moved is what moved: 4 days in the tier, /m);
  expect(said[2]).toMatch(/^4 days came back from /m);
  await expectExact({ api: roles.api, database: roles.server }, DAYS);
});

it('the worker exports another stream of a resource', async () => {
  const settings = join(temporaryFolder(), 'daywalk.yaml');
  writeFileSync(
    settings,
    'streams: {events: {}, severe: {resource: events, filters: {rule_level_from: 7}}}',
  );
  await does(worker, [['backfill', ...RANGE]], { DAYWALK_CONFIG: settings });
});

it('the worker says what it needs where the schema is missing: exit code 2', async () => {
  const empty = await createEmptyDatabase();
  const ended = await roles.run(worker, ['run'], { DATABASE_URL: roles.urlOf(worker, empty) });
  expect(ended, ended.stderr).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toMatch(/permission denied for database .*\(42501\)/);
  expect(ended.stderr).toMatch(/docs\/roles\.md/);
});
