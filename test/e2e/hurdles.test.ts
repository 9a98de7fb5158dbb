/** Ten hurdles that a new user meets: each ends in one message that says what to do, with the exit code of its kind. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { backfillHere } from '../support/backfill-here.ts';
import { type Certificates, makeCertificates } from '../support/certificates.ts';
import { atNight } from '../support/night.ts';
import { CLOSED_PORT } from '../support/ports.ts';
import { runProgram, temporaryFolder } from '../support/program.ts';
import type { EndedHere } from '../support/program-here.ts';
import { setScene } from '../support/scene.ts';
import { testWith } from '../support/tool.ts';

const DAY = { from: '2026-03-01', to: '2026-03-01' };
const RANGE = ['backfill', '--from', DAY.from, '--to', DAY.to];
/** An end that does not keep the test waiting. */
const HASTY = {
  DAYWALK_RETRY_TIME: '1s',
  DAYWALK_DATABASE_PATIENCE: '300ms',
};

/** What happened, and on the line below it what to do; no stack, nothing undefined. */
function expectAdvice(ended: EndedHere, code: number, happened: RegExp, advice: RegExp): void {
  expect(ended, ended.stderr).toMatchObject({ code });
  const [, message = '', hint = ''] = /^daywalk: (.*)\n {2}(.*)$/m.exec(ended.stderr) ?? [];
  expect(message).toMatch(happened);
  expect(hint).toMatch(advice);
  expect(ended.stderr).not.toMatch(/^\s+at |undefined|\[object/m);
}

atNight('a wrong key', async () => {
  const scene = await setScene();
  const ended = await scene.run(RANGE, { DAYWALK_API_KEY: 'another' });
  expectAdvice(ended, 4, /401/, /DAYWALK_API_KEY/);
});

test('a wrong path', async () => {
  const scene = await setScene({ prefix: '/tenant' });
  const ended = await scene.here(RANGE, { DAYWALK_API_URL: new URL(scene.api.url).origin });
  expectAdvice(ended, 2, /404/, /api\.url/);
});

test('a resource that the API does not have: the others are exported, and the run says how to leave it out', async () => {
  const scene = await setScene({
    respond: ({ resource }) =>
      resource === 'events' ? undefined : { kind: 'body', body: '<h1>Not Found</h1>', status: 404 },
  });
  const ended = await scene.here(RANGE);
  expect(ended, ended.stderr).toMatchObject({ code: 3 });
  expect(ended.stdout).toMatch(/^1 window complete: /m);
  expect(ended.stdout).toMatch(
    /^Stream smart-event was given up .* answered 404.* and not \/api\/smart-event, name those alone in `streams`\)$/m,
  );
});

test('an API that is down', async () => {
  const scene = await setScene();
  const away = { ...HASTY, DAYWALK_API_URL: `http://127.0.0.1:${CLOSED_PORT}` };
  expectAdvice(await scene.here(RANGE, away), 5, /ECONNREFUSED|refused/, /api|API/);
});

testWith(['openssl'], 'a self-signed certificate', async () => {
  const { selfSigned } = makeCertificates() as Certificates;
  const server = createServer(selfSigned, (_, response) => response.end('{}'));
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const scene = await setScene();
  const ended = await scene.here(RANGE, { ...HASTY, DAYWALK_API_URL: `https://127.0.0.1:${port}` });
  expectAdvice(ended, 2, /certificate/, /api\.ca_file|DAYWALK_API_CA_FILE/);
});

test('a database without rights', async () => {
  const scene = await setScene();
  const role = `daywalk_test_${randomBytes(6).toString('hex')}`;
  const password = randomBytes(12).toString('hex');
  await scene.database.query(`create role ${role} login password '${password}'`);
  onTestFinished(async () => {
    await scene.database.query(`drop role ${role}`);
  });
  const url = new URL(scene.database.url);
  [url.username, url.password] = [role, password];
  const ended = await scene.here(RANGE, { DATABASE_URL: url.href });
  expectAdvice(ended, 2, /permission denied/, /right/);
});

test('an envelope that nobody knows', async () => {
  const scene = await setScene({ envelope: 'none' });
  const ended = await scene.here(RANGE);
  expect(ended).toMatchObject({ code: 3 });
  expect(ended.stdout).toMatch(/^Failed: events 2026-03-01.*record/m);
  const why = await scene.succeed(['why', '2026-03-01']);
  expect(why.stdout).toMatch(/records_path/);
});

test('a time zone that is none', async () => {
  const scene = await setScene();
  const ended = await scene.here(RANGE, { DAYWALK_TIMEZONE: 'Europe/Berln' });
  expect(ended).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toMatch(/DAYWALK_TIMEZONE.*did you mean Europe\/Berlin\?/);
});

test('a disk that is full', async () => {
  const scene = await setScene({ eventsPerDay: 20 });
  await scene.database.query(
    `create function no_room() returns trigger language plpgsql as
       $$ begin raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'; end $$`,
  );
  await scene.database.query(
    'create trigger no_room before insert on daywalk.pages for each row execute function no_room()',
  );
  const ended = await scene.here([...RANGE, '--stream', 'events'], HASTY);
  expectAdvice(ended, 5, /No space left on device/, /disk|Postgres/);
  await scene.database.query('drop function no_room cascade');
  const { gaps } = await backfillHere(scene, DAY, { environment: { DAYWALK_STREAMS: 'events' } });
  expect(gaps).toEqual([]);
});

test('two workers: one waits for the other, and says so', async () => {
  const scene = await setScene({
    eventsPerDay: 20,
    faults: [{ kind: 'stall', when: ({ number }) => number > 2 }],
  });
  const one = [...RANGE, '--stream', 'events'];
  const first = scene.start(one);
  await scene.api.received(3);
  // What stalls the first one may stall this one, too: it is asked again.
  const second = scene.start(one, { DAYWALK_PAGE_TIMEOUT: '1s' });
  await second.saying(/waiting for windows that another worker holds/);
  scene.api.set({ faults: [] });
  first.kill('SIGTERM');
  expect(await first.ended).toMatchObject({ code: 143 });
  expect(await second.ended).toMatchObject({ code: 0 });
});

test('a settings file of another version', async () => {
  const folder = temporaryFolder();
  await writeFile(join(folder, 'daywalk.yaml'), 'page_lenght: 100\napi:\n  token_file: key\n');
  const ended = await runProgram(['status'], { folder });
  expect(ended).toMatchObject({ code: 2 });
  expect(ended.stderr).toMatch(
    /daywalk\.yaml:1.*page_lenght.*there is no such setting; did you mean/,
  );
  expect(ended.stderr).toMatch(/daywalk\.yaml:3.*api\.token_file.*there is no such setting/);
});
