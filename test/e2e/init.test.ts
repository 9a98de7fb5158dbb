/** The first contact: a settings file from flags and environment, examined at once, and never written over by accident. */
import { randomUUID } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Hook } from '../../simulator/simulator.ts';
import { API_KEY, runProgram, temporaryFolder } from '../support/program.ts';
import { runHere } from '../support/program-here.ts';
import { setScene } from '../support/scene.ts';
import { examined, listing, type Placed } from './examined.ts';

test('init writes what was given, has it examined, and a run with nothing but the secrets works', async () => {
  const scene = await setScene();
  const folder = temporaryFolder();
  const secrets = { DAYWALK_API_KEY: API_KEY, DATABASE_URL: scene.database.url };
  const written = await runProgram(
    ['init', '--api-url', scene.api.url, '--since', '2026-03-01', '--page-length', '50'],
    { folder, environment: secrets },
  );
  expect(written, written.stdout + written.stderr).toMatchObject({ code: 0 });
  expect(written.stdout).toMatch(/^Wrote .*daywalk\.yaml[\s\S]*✓ stream events/);
  const text = await readFile(join(folder, 'daywalk.yaml'), 'utf8');
  expect(text).toMatch(/^# yaml-language-server: \$schema=\.\/daywalk\.schema\.json\n/);
  expect(text).not.toContain(API_KEY);
  // Looked at in the records of the newest closed day.
  expect(written.stdout).toMatch(/identity events +id is in each of \d+ records, and different/);
  expect(written.stdout).toMatch(/^daywalk\.yaml has id_path: id\./m);
  expect(text).toMatch(/^id_path: id$/m);
  expect(written.stdout).toMatch(
    /\nDAYWALK_API_KEY is not kept: .*api\.key_file\.\nNext: daywalk run\n$/,
  );
  JSON.parse(await readFile(join(folder, 'daywalk.schema.json'), 'utf8'));

  const config = await runHere(['config'], { folder, environment: secrets });
  expect(config.stdout).toMatch(/^since +.*daywalk\.yaml\S* +2026-03-01$/m);

  await writeFile(join(folder, 'daywalk.yaml'), '# mine\n');
  const again = await runHere(['init'], { folder, environment: secrets });
  expect(again).toMatchObject({ code: 2 });
  expect(again.stderr).toMatch(/daywalk\.yaml is there already, and stays as it is\n.*--force/);
  const beside = await runHere(['init', '--config', 'mine.yaml', '--api-url', scene.api.url], {
    folder,
    environment: secrets,
  });
  expect(beside, beside.stderr).toMatchObject({ code: 0 });
  expect(beside.stdout).toMatch(
    /^Wrote .*mine\.yaml[\s\S]*\nNext: daywalk run --config mine\.yaml\n$/,
  );
  expect(await readFile(join(folder, 'daywalk.yaml'), 'utf8')).toBe('# mine\n');
  const forced = await runHere(['init', '--force', '--api-url', scene.api.url], {
    folder,
    environment: secrets,
  });
  expect(forced).toMatchObject({ code: 0 });
  expect(await readFile(join(folder, 'daywalk.yaml'), 'utf8')).toContain(`url: ${scene.api.url}`);
});

test.each([['init'], ['init', '--embedded']])(
  'without an address nothing is written: %j',
  async (...args) => {
    const folder = temporaryFolder();
    const environment = args.length > 1 ? {} : { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/x' };
    const ended = await runHere(args, { folder, environment });
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toMatch(/api\.url[\s\S]*DAYWALK_API_URL[\s\S]*api\.key/);
    expect(await readdir(folder)).toEqual([]);
  },
);

test('the folder of the file is made; where that cannot be, it is told at once', async () => {
  const folder = temporaryFolder();
  const url = 'postgres://nobody@127.0.0.1:1/nothing';
  await writeFile(join(folder, 'url'), url);
  const api = { DAYWALK_API_URL: 'http://127.0.0.1:1', DAYWALK_API_KEY: API_KEY };
  const environment = { ...api, DATABASE_URL_FILE: 'url' };
  const made = await runHere(['init', '--config', 'new/daywalk.yaml'], { folder, environment });
  expect(made.stdout).toMatch(/^Wrote .*new\/daywalk\.yaml/);
  // The one that later commands read.
  const own = { ...environment, DAYWALK_CONFIG: 'own/soc.yaml' };
  const named = await runHere(['init'], { folder, environment: own });
  expect(named.stdout).toMatch(/^Wrote .*own\/soc\.yaml/);
  expect((await runHere(['config'], { folder, environment: own })).code).toBe(0);
  const home = { ...environment, DAYWALK_CONFIG: '~/daywalk.yaml' };
  expect((await runHere(['init'], { folder, environment: home })).stderr).toMatch(
    /^daywalk: environment DAYWALK_CONFIG: "~\/daywalk\.yaml" begins with ~; write /,
  );
  if (process.platform !== 'linux') return;
  const refused = await runProgram(['init', '--config', '/proc/nosuch/daywalk.yaml'], {
    environment: { ...api, DATABASE_URL: url },
    longestMs: 20_000,
  });
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toMatch(/^daywalk: \/proc\/nosuch\/\S+ cannot be written \(ENOENT\)\n/);
});

test('what identifies the records of one stream says nothing of one that did not answer', async () => {
  const scene = await setScene({
    eventsPerDay: 2000,
    respond: ({ resource }) =>
      resource === 'events' ? { kind: 'body', body: '<html>', status: 200 } : undefined,
  });
  const folder = temporaryFolder();
  const ended = await runHere(['init'], { folder, environment: scene.environment });
  expect(ended).toMatchObject({ code: 2 });
  expect(ended.stdout).toMatch(/^✓ identity smart-event +id /m);
  expect(ended.stdout).not.toMatch(/Next:/);
  expect(ended.stdout).toMatch(/has id_path: id, below the stream smart-event\. Take the line out/);
  expect(await readFile(join(folder, 'daywalk.yaml'), 'utf8')).toMatch(
    /^streams:\n {2}events:\n {2}smart-event:\n {4}id_path: id$/m,
  );
});

/** What `init` writes as id_path, behind the stream that it is of; null: nothing. */
async function writtenFor(respond: Hook): Promise<string | null> {
  const scene = await setScene({ respond });
  const folder = temporaryFolder();
  const ended = await runHere(['init'], { folder, environment: scene.environment });
  expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 0 });
  const text = await readFile(join(folder, 'daywalk.yaml'), 'utf8');
  const [, stream = '', path = null] = /^(?: {2}([\w-]+:)\n {4})?id_path: (.*)$/m.exec(text) ?? [];
  return path && `${stream}${path}`;
}

/** What `init` finds to identify the records of each stream, and writes where it is the same; the program above does so, too. */
const foundIn = async (respond: Hook) => (await examined({ respond })).identities;

describe('what a source makes for each answer identifies no record', () => {
  test.each<[string, (placed: Placed) => object]>([
    ['the number of the row, from 1', ({ row }) => ({ id: row + 1 })],
    ['the number of the row, counted down', ({ row }) => ({ id: 60 - row })],
    ['a number that begins with the offset', ({ place }) => ({ id: place + 1 })],
    [
      'one that is counted down to the end of the list',
      ({ place, total }) => ({ id: total - place }),
    ],
    ['one behind a word', ({ place }) => ({ id: `row ${place}` })],
    ['a new UUID each time', () => ({ uuid: randomUUID() })],
    [
      'a new UUID for half of them',
      ({ number }) => ({ id: number % 2 === 0 ? `e${number}` : randomUUID() }),
    ],
  ])('%s', async (_, fields) => {
    expect(await foundIn(listing(fields))).toEqual([null, null]);
  });

  test.each<[number, string, (placed: Placed) => object]>([
    [60, 'row number', ({ row }) => ({ id: row + 1 })],
    [4, 'row number', ({ row }) => ({ id: row + 1 })],
    [4, 'new UUID', () => ({ id: randomUUID() })],
  ])('nor where another stream has better: of %i records a %s', async (count, _, fields) => {
    const poor = listing(fields, count);
    const better = listing(({ number }) => ({ id: `e${number}` }));
    const respond: Hook = (request) => (request.resource === 'events' ? better : poor)(request);
    expect(await foundIn(respond)).toEqual(['id', null]);
    // What differs is written below its stream.
    if (count === 60) expect(await writtenFor(respond)).toBe('events:id');
  });
});

test.each<[string, string, (placed: Placed) => object]>([
  ['a growing number', 'id', ({ number }) => ({ id: 48_211 + number })],
  ['_id', '_id', ({ number }) => ({ _id: `e${number}` })],
  [
    'a UUID, beside a row number',
    'uuid',
    ({ number, row }) => ({ id: row, uuid: `0b5d7c1e-0000-4000-8000-0000000000${number + 10}` }),
  ],
])('what a record bears however it is asked for is written: %s', async (_, path, fields) => {
  expect(await foundIn(listing(fields))).toEqual([path, path]);
});

test('also where pages are counted by number', async () => {
  const honest = listing(({ number }) => ({ id: 48_211 + number }));
  const byNumber: Hook = (request) => {
    const { start, length } = request.query;
    const page = Math.floor(Number(start) / Number(length));
    return honest({ ...request, query: { ...request.query, start: `${page * Number(length)}` } });
  };
  expect(await foundIn(byNumber)).toEqual(['id', 'id']);
});
