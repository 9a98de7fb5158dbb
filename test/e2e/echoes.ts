/** Ways in which a source may say a key back, and where the key would be found in a database. */
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { HookAnswer } from '../../simulator/hook.ts';
import { API_KEY, type Ended, formsOf, runProgram, temporaryFolder } from '../support/program.ts';
import { type Scene, secretsIn, setScene } from '../support/scene.ts';

export const DAY = { from: '2026-03-01', to: '2026-03-01' };
export const BACKFILL = ['backfill', '--from', DAY.from, '--to', DAY.to];

/** Every text and json value of every table, with the columns in which the key or the database password is found. */
export async function columnsWithSecret({ database }: Scene, key = API_KEY): Promise<string[]> {
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

/** What a source answers that says the key back. */
type Echo = (key: string) => HookAnswer;

/** Answers that end a run. */
export const ENDING: Readonly<Record<string, Echo>> = {
  'a 401': (key) => ({ status: 401, body: `key ${key} is unknown` }),
  'a 404': (key) => ({ status: 404, body: `<p>${encodeURIComponent(key)}</p>` }),
  'a 500': (key) => ({ status: 500, body: JSON.stringify({ headers: { 'x-api-key': key } }) }),
  'a redirect': (key) => ({
    status: 302,
    headers: { location: `https://login.invalid/?key=${encodeURIComponent(key)}` },
  }),
};

/** Answers behind good pages that fail their windows. */
export const LATER: Readonly<Record<string, Echo>> = {
  'an error with 200 after good pages': (key) => ({
    body: JSON.stringify({ errors: [{ key }], data: [] }),
  }),
  'a page without a list after good pages': (key) => ({ body: JSON.stringify({ data: key }) }),
  'no JSON after good pages': (key) => ({ body: `{"data":[{"a":${key}` }),
};

/** Answers that fail their windows from the first page on. */
export const FIRST: Readonly<Record<string, Echo>> = {
  'a 400': (key) => ({ status: 400, body: JSON.stringify({ error: `no right for ${key}` }) }),
  'an error with 200': (key) => ({
    body: JSON.stringify({ error: `the key ${key} has expired` }),
  }),
  'an error with 200 beside an empty list': (key) => ({
    body: JSON.stringify({ error: `the key ${key} has expired`, data: [] }),
  }),
  'an error with 200 beside records': (key) => ({
    body: JSON.stringify({ error: `the key ${key} has expired`, data: [{ a: 1 }] }),
  }),
  'a login page': (key) => ({
    headers: { 'content-type': 'text/html' },
    body: `<html>${key}</html>`,
  }),
  'a page without a list': (key) => ({ body: JSON.stringify({ [key]: 1, message: key }) }),
  'a page with a strange name for the list': (key) => ({
    body: JSON.stringify({ [key]: [{ a: 1 }], other: [{ b: 1 }] }),
  }),
  'no JSON': (key) => ({ body: `{"data": [${key}` }),
};

/** The key that a rotated key file holds. */
export const NEW_KEY = 'rotated-Zk81/+q=4471';

/** What a source may answer to the new key that fails windows. */
export const ROTATED: Readonly<Record<string, Echo>> = {
  'a content coding': (key) => ({ body: '{}', headers: { 'content-encoding': key } }),
  'a 400': (key) => ({ status: 400, body: `no right for ${key}` }),
  'the name of a list': (key) => ({ body: JSON.stringify({ [key]: [{ a: 1 }], b: [{ b: 1 }] }) }),
  'a record': (key) => ({ body: JSON.stringify({ data: [{ key }], total: 1 }) }),
};
/** And what ends the run. */
export const redirected: Echo = (key) => ({
  status: 302,
  headers: { location: `https://${key}/` },
});

type Query = Readonly<Record<string, string | undefined>>;

/** A settings file with a stream for each of these answers, and which of them a request of such a stream gets. */
export async function streamsOf(echoes: Readonly<Record<string, Echo>>) {
  const file = join(temporaryFolder(), 'daywalk.yaml');
  const rows = Object.entries(echoes);
  // Those that answer well at first come first: few records have a high level.
  const streams = rows.map(
    (_, level) => `  echo-${level}: { resource: events, filters: { rule_level_from: ${level} } }\n`,
  );
  await writeFile(file, `streams:\n${streams.join('')}`);
  const echoOf = ({ rule_level_from: level, start }: Query): Echo | undefined => {
    const [name = '', echo] = rows[Number(level)] ?? [];
    return name in LATER && start === '0' ? undefined : echo;
  };
  return { file, echoOf };
}

/** A scene in which the old key is refused, and its file then holds the new one. */
export async function keyThatIsRotated(
  answer: (request: { readonly query: Query }) => HookAnswer | undefined,
) {
  const key = join(temporaryFolder(), 'key');
  const scene = await setScene({
    key: NEW_KEY,
    respond: async (request) => {
      if (request.headers['x-api-key'] === NEW_KEY) return answer(request);
      // In one step: others that are refused beside it may have it read meanwhile.
      const written = `${key}-${request.number}`;
      await writeFile(written, `${NEW_KEY}\n`);
      await rename(written, key);
      return { status: 401, body: '' };
    },
  });
  return { scene, key };
}

/** Runs a backfill that begins with the old key; it must say nothing of the new one. */
export async function runRotated(
  { api, environment }: Scene,
  key: string,
  format: 'json' | 'pretty',
  settings: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  await writeFile(key, `${API_KEY}\n`);
  const { requests } = api.counts;
  const ended = await runProgram([...BACKFILL, '--json-events'], {
    environment: {
      ...environment,
      ...settings,
      DAYWALK_API_KEY: undefined,
      DAYWALK_API_KEY_FILE: key,
      DAYWALK_LOG_LEVEL: 'trace',
      DAYWALK_LOG_FORMAT: format,
      DAYWALK_RETRY_TIME: '0s',
    },
    secrets: [NEW_KEY],
  });
  // The first was refused.
  expect(api.counts.requests).toBeGreaterThan(requests + 1);
  expect(ended.stdout + ended.stderr).not.toContain('rotated-');
  return ended;
}
