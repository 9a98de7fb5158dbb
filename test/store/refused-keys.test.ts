/** The note of a refused key: known again within the hour, and worth nothing to whoever reads it. */
import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, expect, test } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import { forgetRefusedKey, noteRefusedKey, readRefusedKey } from '../../src/store/refused-keys.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { formsOf } from '../support/program.ts';
import { openDatabase } from '../support/store.ts';

const API = 'https://soc.example';
const KEY = 'a-key-of-the-test';
let server: TestDatabase;
let database: Database;

beforeAll(async () => {
  server = await createTestDatabase();
});
beforeEach(async () => {
  await server.query('delete from daywalk.refused_keys');
  database = openDatabase(server.url);
});

const note = (key = KEY, baseUrl = API) =>
  noteRefusedKey(database, baseUrl, key, 'answered 401', randomUUID());
const read = (key = KEY, baseUrl = API) => readRefusedKey(database, baseUrl, key);
const rows = () =>
  server.query<{ salt: string; digest: Buffer }>(
    'select * from daywalk.refused_keys order by base_url',
  );
const later = (minutes: number) =>
  server.query(
    'update daywalk.refused_keys set refused_at = refused_at - make_interval(mins => $1)',
    [minutes],
  );

test('holds for this key of this API, for an hour', async () => {
  expect(await read()).toBeNull();
  const noted = await note();
  expect(noted).toEqual({
    since: expect.any(Date),
    until: new Date((noted?.since.getTime() ?? 0) + 3_600_000),
    said: 'answered 401',
  });
  expect(await read()).toEqual(noted);
  expect(await read('another')).toBeNull();
  expect(await read(KEY, 'https://other.example')).toBeNull();
  await later(59);
  expect(await read()).toMatchObject({ since: noted?.since });
  await later(1);
  expect(await read()).toBeNull();
});

test('holds for no longer than an hour from now: the clock of the database was ahead', async () => {
  await note();
  await later(-600);
  expect(await read()).toBeNull();
});

test('the same key again is refused since the first time, another one since now', async () => {
  const first = await note();
  await later(90);
  const again = await note();
  expect(again?.since).toEqual(first?.since);
  expect(again?.until.getTime()).toBeGreaterThanOrEqual(first?.until.getTime() ?? 0);
  const other = await note('another');
  expect(other?.since.getTime()).toBeGreaterThan(first?.since.getTime() ?? 0);
});

test('two workers with a key each, both refused: neither hides the note of the other', async () => {
  const one = await note();
  const other = await note('another');
  expect(await read()).toEqual(one);
  expect(await read('another')).toEqual(other);
  await forgetRefusedKey(database, API, 'another');
  expect([await read(), await read('another')]).toEqual([one, null]);
});

test('goes when the key is taken, of this API only; with it goes what holds no more', async () => {
  await note('an old one');
  await note(KEY, 'https://other.example');
  await later(61);
  await note();
  await forgetRefusedKey(database, API, KEY);
  expect(await read()).toBeNull();
  expect(await rows()).toMatchObject([{ base_url: 'https://other.example' }]);
});

test('holds no key, and one key is two digests at two APIs', async () => {
  await note();
  await note(KEY, 'https://other.example');
  const [one, two] = await rows();
  expect(one?.digest).toHaveLength(32);
  expect(one?.digest).not.toEqual(two?.digest);
  const stored = JSON.stringify(await rows()) + one?.digest.toString('latin1');
  for (const form of formsOf(KEY)) expect(stored).not.toContain(form);
});
