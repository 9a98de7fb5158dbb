/** The key and the database password are in no line, no table and no process argument, whatever the API says back (I10). */
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { backfillHere } from '../support/backfill-here.ts';
import { andAtNight, atNight } from '../support/night.ts';
import { API_KEY, formsOf } from '../support/program.ts';
import { type Scene, setScene } from '../support/scene.ts';
import {
  BACKFILL,
  columnsWithSecret,
  DAY,
  ENDING,
  FIRST,
  keyThatIsRotated,
  LATER,
  NEW_KEY,
  ROTATED,
  redirected,
  runRotated,
  streamsOf,
} from './echoes.ts';

const EVENTS = { DAYWALK_STREAMS: 'events' };

/** How many streams have a window that failed. */
const streamsWithFailures = async ({ database }: Scene) =>
  (await database.query(`select distinct stream_id from daywalk.windows where state = 'failed'`))
    .length;

test('a secret in any column would be found', async () => {
  const scene = await setScene();
  await backfillHere(scene, DAY, { environment: EVENTS });
  expect(await columnsWithSecret(scene)).toEqual([]);
  await scene.database.query(`update daywalk.walks set reason = $1 where walk_id = 1`, [API_KEY]);
  await scene.database.query(`update daywalk.pages set body = $1`, [
    JSON.stringify({ deep: [`Bearer ${API_KEY}`] }),
  ]);
  const found = (await columnsWithSecret(scene)).map((one) => one.replace(/:.*/, ''));
  expect(found).toEqual(expect.arrayContaining(['daywalk.walks.reason', 'daywalk.pages.body']));
});

test('the key comes back in answers that fail a window, to another stream in each of them', async () => {
  const { file, echoOf } = await streamsOf({ ...LATER, ...FIRST });
  const scene = await setScene({ respond: ({ query }) => echoOf(query)?.(API_KEY) });
  const settings = { DAYWALK_CONFIG: file, DAYWALK_RETRY_TIME: '0s' };
  // The runner itself looks for the key in all that the program writes.
  const ended = await scene.run(BACKFILL, { ...settings, DAYWALK_LOG_LEVEL: 'trace' });
  expect(ended, ended.stderr).toMatchObject({ code: 3 });
  expect(await streamsWithFailures(scene)).toBe(Object.keys({ ...LATER, ...FIRST }).length);
  // What reads the database can say nothing that is not in it.
  expect(await columnsWithSecret(scene)).toEqual([]);
});

test('the key comes back in answers that end a run', async () => {
  const scene = await setScene();
  for (const name of andAtNight(['a 401', 'a redirect'], ['a 404', 'a 500'])) {
    const echo = ENDING[name];
    scene.api.set({ respond: () => echo?.(API_KEY) });
    const ended = await scene.run(BACKFILL, {
      ...EVENTS,
      DAYWALK_RETRY_TIME: '0s',
      DAYWALK_LOG_LEVEL: 'trace',
      DAYWALK_LOG_FORMAT: name === 'a redirect' ? 'pretty' : 'json',
    });
    expect(ended.code, ended.stderr).not.toBe(1);
    expect(ended.stderr, name).toMatch(/^daywalk: http/m);
  }
  expect(await columnsWithSecret(scene)).toEqual([]);
});

atNight(
  'the key comes back for one day, while the pages of other days show where the list is',
  async () => {
    const scene = await setScene({
      latency: 2,
      eventsPerDay: 60,
      respond: async ({ query }) => {
        if (query.fromDate !== '2026-03-02 00:00:00') return undefined;
        // Pages of the other days go by between this day's attempts.
        await pause(60);
        return { body: JSON.stringify({ error: `the key ${API_KEY} has expired`, data: [] }) };
      },
    });
    const ended = await scene.run(['backfill', '--from', '2026-03-01', '--to', '2026-03-05'], {
      ...EVENTS,
      DAYWALK_PAGE_LENGTH: '5',
    });
    expect(ended).toMatchObject({ code: 3 });
    expect(await columnsWithSecret(scene)).toEqual([]);
  },
);

test('the key comes back in the records of a day: that day fails, and nothing of it is stored', async () => {
  const scene = await setScene({
    eventsPerDay: 60,
    respond: ({ query }) =>
      query.fromDate === '2026-03-02 00:00:00'
        ? { body: JSON.stringify({ data: [{ log: `X-API-Key: ${API_KEY}` }], total: 1 }) }
        : undefined,
  });
  const ended = await scene.run(['backfill', '--from', '2026-03-01', '--to', '2026-03-02'], EVENTS);
  expect(ended).toMatchObject({ code: 3 });
  expect(ended.stdout).toContain('the answer holds the API key');
  expect(await columnsWithSecret(scene)).toEqual([]);
});

test('a key that was rotated comes back, in answers that fail a window and in one that ends a run', async () => {
  const { file, echoOf } = await streamsOf(ROTATED);
  const { scene, key } = await keyThatIsRotated(({ query }) => echoOf(query)?.(NEW_KEY));
  const settings = { DAYWALK_CONFIG: file };
  expect(await runRotated(scene, key, 'json', settings)).toMatchObject({ code: 3 });
  expect(await streamsWithFailures(scene)).toBe(Object.keys(ROTATED).length);
  expect(await columnsWithSecret(scene, NEW_KEY)).toEqual([]);
  const ending = await keyThatIsRotated(() => redirected(NEW_KEY));
  expect(await runRotated(ending.scene, ending.key, 'pretty', EVENTS)).toMatchObject({ code: 2 });
});

test.each([
  ['thrown', 'throw error'],
  ['rejected', 'Promise.reject(error)'],
])('the key in an error that is %s where nobody catches it', async (_, fails) => {
  const scene = await setScene();
  const preload = `import { subscribe } from 'node:diagnostics_channel';
    const key = process.env.DAYWALK_API_KEY;
    const error = Object.assign(new Error('refused: ' + key), { headers: { key } });
    subscribe('undici:request:create', () => { ${fails}; });`;
  const NODE_OPTIONS = `--import data:text/javascript,${encodeURIComponent(preload)}`;
  const ended = await scene.run(BACKFILL, { ...EVENTS, NODE_OPTIONS });
  expect(ended).toMatchObject({ code: 1 });
  expect(ended.stderr).toMatch(/^daywalk: unexpected error, please report it\nError: refused: /m);
});

test('the effective settings hold no secret either', async () => {
  const scene = await setScene();
  const shown = await scene.succeed(['config']);
  expect(shown.stdout).toMatch(/^api\.key +environment DAYWALK_API_KEY +••••$/m);
  expect(shown.stdout).toMatch(/^database\.url +environment DATABASE_URL .*@.*$/m);
  const json = JSON.parse((await scene.succeed(['config', '--json'])).stdout);
  expect(json).toContainEqual(expect.objectContaining({ name: 'page_length', value: '40' }));
});

test.runIf(process.platform === 'linux')('no process argument holds a secret', async () => {
  const scene = await setScene({ faults: [{ kind: 'stall' }] });
  const program = scene.start(BACKFILL);
  await scene.api.received(1);
  const line = await readFile(`/proc/${program.pid}/cmdline`, 'utf8');
  expect(line).toContain('backfill');
  for (const form of formsOf(API_KEY)) expect(line).not.toContain(form);
  expect(line).not.toContain(scene.database.url);
  program.kill('SIGTERM');
  await program.ended;
});
