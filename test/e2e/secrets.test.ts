/** The key and the database password are in no line, no table and no process argument, whatever the API says back (I10). */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { HookAnswer } from '../../simulator/hook.ts';
import type { Simulator } from '../../simulator/simulator.ts';
import { API_KEY, formsOf, runProgram, temporaryFolder } from '../support/program.ts';
import { type Scene, secretsIn, setScene } from '../support/scene.ts';

const BACKFILL = ['backfill', '--from', '2026-03-01', '--to', '2026-03-02'];

/** Every text and json value of every table, with the columns in which the key or the database password is found. */
async function columnsWithSecret({ database }: Scene, key = API_KEY): Promise<string[]> {
  const relations = await database.query<{ relation: string; attributes: string[] }>(
    `select format('%I.%I', n.nspname, c.relname) as relation, array_agg(quote_ident(a.attname) order by a.attnum) as attributes
       from pg_class c
       join pg_namespace n on n.oid = c.relnamespace and n.nspname = 'daywalk'
       join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
       join pg_type t on t.oid = a.atttypid and (t.typcategory in ('S', 'A') or t.typname in ('json', 'jsonb', 'bytea'))
      where c.relkind in ('r', 'p', 'v')
      group by 1`,
  );
  expect(relations.flatMap(({ attributes }) => attributes).length).toBeGreaterThan(20);
  const forms = [key, ...secretsIn(database.url)].flatMap(formsOf);
  const found: string[] = [];
  for (const { relation, attributes } of relations) {
    const looks = attributes.map(
      (name) =>
        `max((select form from unnest($1::text[]) as form where position(form in ${name}::text) > 0 limit 1)) as ${name}`,
    );
    const [row] = await database.query<Record<string, string | null>>(
      `select ${looks.join(', ')} from ${relation}`,
      [forms],
    );
    for (const [name, form] of Object.entries(row ?? {}))
      if (form !== null) found.push(`${relation}.${name}: ${form}`);
  }
  return found;
}

test('a secret in any column would be found', async () => {
  const scene = await setScene();
  await scene.succeed(BACKFILL);
  expect(await columnsWithSecret(scene)).toEqual([]);
  await scene.database.query(`update daywalk.walks set reason = $1 where walk_id = 1`, [API_KEY]);
  await scene.database.query(`update daywalk.pages set body = $1`, [
    JSON.stringify({ deep: [`Bearer ${API_KEY}`] }),
  ]);
  const found = (await columnsWithSecret(scene)).map((one) => one.replace(/:.*/, ''));
  expect(found).toEqual(expect.arrayContaining(['daywalk.walks.reason', 'daywalk.pages.body']));
});

/** Answers of a source that says the key back, in one way or another. */
const ECHOES: Record<string, Parameters<Simulator['set']>[0]['respond']> = {
  'a 400': () => ({ status: 400, body: JSON.stringify({ error: `no right for ${API_KEY}` }) }),
  'a 401': () => ({ status: 401, body: `key ${API_KEY} is unknown` }),
  'a 404': () => ({ status: 404, body: `<p>${encodeURIComponent(API_KEY)}</p>` }),
  'a 500': () => ({ status: 500, body: JSON.stringify({ headers: { 'x-api-key': API_KEY } }) }),
  'a redirect': () => ({
    status: 302,
    headers: { location: `https://login.invalid/?key=${encodeURIComponent(API_KEY)}` },
  }),
  'an error with 200': () => ({
    body: JSON.stringify({ error: `the key ${API_KEY} has expired` }),
  }),
  'an error with 200 beside an empty list': () => ({
    body: JSON.stringify({ error: `the key ${API_KEY} has expired`, data: [] }),
  }),
  'an error with 200 beside records': () => ({
    body: JSON.stringify({ error: `the key ${API_KEY} has expired`, data: [{ a: 1 }] }),
  }),
  'an error with 200 after good pages': ({ number }) =>
    number > 3 ? { body: JSON.stringify({ errors: [{ key: API_KEY }], data: [] }) } : undefined,
  'a page without a list after good pages': ({ number }) =>
    number > 3 ? { body: JSON.stringify({ data: API_KEY }) } : undefined,
  'no JSON after good pages': ({ number }) =>
    number > 3 ? { body: `{"data":[{"a":${API_KEY}` } : undefined,
  'a login page': () => ({
    headers: { 'content-type': 'text/html' },
    body: `<html>${API_KEY}</html>`,
  }),
  'a page without a list': () => ({ body: JSON.stringify({ [API_KEY]: 1, message: API_KEY }) }),
  'a page with a strange name for the list': () => ({
    body: JSON.stringify({ [API_KEY]: [{ a: 1 }], other: [{ b: 1 }] }),
  }),
  'no JSON': () => ({ body: `{"data": [${API_KEY}` }),
};

test.each(Object.entries(ECHOES))('the key comes back in %s', async (_, respond) => {
  const scene = await setScene({ respond: respond ?? null });
  // The runner itself looks for the key in all that the program writes.
  const ended = await scene.run(BACKFILL, {
    DAYWALK_RETRY_TIME: '0s',
    DAYWALK_LOG_LEVEL: 'trace',
  });
  expect(ended.code, ended.stderr).not.toBe(1);
  // What reads the database can say nothing that is not in it.
  expect(await columnsWithSecret(scene)).toEqual([]);
  await scene.run(['doctor'], { DAYWALK_RETRY_TIME: '0s' });
});

test('the key comes back for one day, while the pages of other days show where the list is', async () => {
  const scene = await setScene({
    latency: 2,
    respond: async ({ query }) => {
      if (query.fromDate !== '2026-03-02 00:00:00') return undefined;
      // Pages of the other days go by between this day's attempts.
      await pause(60);
      return { body: JSON.stringify({ error: `the key ${API_KEY} has expired`, data: [] }) };
    },
  });
  const ended = await scene.run(['backfill', '--from', '2026-03-01', '--to', '2026-03-12'], {
    DAYWALK_PAGE_LENGTH: '5',
  });
  expect(ended).toMatchObject({ code: 3 });
  expect(await columnsWithSecret(scene)).toEqual([]);
});

test('the key comes back in the records of a day: that day fails, and nothing of it is stored', async () => {
  const scene = await setScene({
    respond: ({ query }) =>
      query.fromDate === '2026-03-02 00:00:00'
        ? { body: JSON.stringify({ data: [{ log: `X-API-Key: ${API_KEY}` }], total: 1 }) }
        : undefined,
  });
  expect(await scene.run(BACKFILL)).toMatchObject({ code: 3 });
  expect(await columnsWithSecret(scene)).toEqual([]);
  const { stdout } = await scene.run(['gaps']);
  expect(stdout).toContain('the answer holds the API key');
});

const NEW_KEY = 'rotated-Zk81/+q=4471';
/** Ways in which a source may say the new key back. */
const NEW_ECHOES: Record<string, (key: string) => HookAnswer> = {
  'a content coding': (key) => ({ body: '{}', headers: { 'content-encoding': key } }),
  'a 400': (key) => ({ status: 400, body: `no right for ${key}` }),
  'a redirect': (key) => ({ status: 302, headers: { location: `https://${key}/` } }),
  'the name of a list': (key) => ({ body: JSON.stringify({ [key]: [{ a: 1 }], b: [{ b: 1 }] }) }),
  'a record': (key) => ({ body: JSON.stringify({ data: [{ key }], total: 1 }) }),
};

test.each(Object.entries(NEW_ECHOES))(
  'a key that was rotated comes back in %s',
  async (_, echo) => {
    const folder = temporaryFolder();
    const file = join(folder, 'key');
    await writeFile(file, `${API_KEY}\n`);
    const scene = await setScene({
      key: NEW_KEY,
      respond: async ({ headers }) => {
        if (headers['x-api-key'] === NEW_KEY) return echo(NEW_KEY);
        await writeFile(file, `${NEW_KEY}\n`);
        return { status: 401, body: '' };
      },
    });
    const environment = {
      ...scene.environment,
      DAYWALK_API_KEY: undefined,
      DAYWALK_API_KEY_FILE: file,
      DAYWALK_LOG_LEVEL: 'trace',
      DAYWALK_RETRY_ATTEMPTS: '1',
    };
    for (const format of ['json', 'pretty']) {
      await writeFile(file, `${API_KEY}\n`);
      const options = { environment: { ...environment, DAYWALK_LOG_FORMAT: format } };
      const ended = await runProgram([...BACKFILL, '--json-events'], {
        ...options,
        secrets: [NEW_KEY],
      });
      expect(ended.code, ended.stderr).not.toBe(1);
      expect(ended.stdout + ended.stderr).not.toContain('rotated-');
    }
    expect(await columnsWithSecret(scene, NEW_KEY)).toEqual([]);
  },
);

test('pretty lines and the effective settings hold no secret either', async () => {
  const scene = await setScene({ respond: () => ({ status: 500, body: API_KEY }) });
  await scene.run(BACKFILL, { DAYWALK_RETRY_TIME: '0s', DAYWALK_LOG_FORMAT: 'pretty' });
  const shown = await scene.succeed(['config']);
  expect(shown.stdout).toMatch(/^api\.key .*environment DAYWALK_API_KEY$/m);
  expect(shown.stdout).toMatch(/^database\.url .*@.*\n? +environment DATABASE_URL$/m);
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
