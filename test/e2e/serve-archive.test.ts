/** `daywalk serve-archive`: whatever spoke to the source can read what is stored, daywalk itself first of all. */
import { beforeAll, describe, expect, test } from 'vitest';
import type { SimulatorOptions } from '../../simulator/simulator.ts';
import { REFERENCE } from '../simulator/asking.ts';
import { createTestDatabase } from '../support/database.ts';
import { difference, recordTexts } from '../support/multiset.ts';
import { type Program, runProgram } from '../support/program.ts';
import { type Scene, setScene } from '../support/scene.ts';

const KEY = 'key-of-the-archive-7f3a';
const SETTINGS = { DAYWALK_ARCHIVE_KEY: KEY, DAYWALK_ARCHIVE_LISTEN: '127.0.0.1:0' };
const ALL_FIELDS = {
  DAYWALK_ARCHIVE_FIELDS:
    '{agent_tags: agent.tags, manager_tags: manager.tags, organization: organization, detection_type: detection_type, hideread: read}',
};
const DAYS = ['2026-03-01', '2026-03-02', '2026-03-03'];
const RANGE = ['--from', '2026-03-01', '--to', '2026-03-03'];

interface Archive {
  readonly scene: Scene;
  readonly url: string;
  readonly program: Program;
}

let stored: Scene;

beforeAll(async () => {
  stored = await setScene({ eventsPerDay: 150 });
  await stored.succeed(['backfill', ...RANGE], { DAYWALK_STREAMS: 'events' });
});

/** The days at the ends of a copy need their neighbours in the archive: what lies across midnight is asked there, too. */
const WIDER = ['--from', '2026-02-28', '--to', '2026-03-04'];

/** Exports days from a simulated source, and serves them. */
async function archive(
  options: SimulatorOptions = {},
  settings: Record<string, string> = {},
  args: readonly string[] = [],
): Promise<Archive> {
  const scene = await setScene(options);
  await scene.succeed(['backfill', ...WIDER], settings);
  return serve(scene, settings, args);
}

async function serve(
  scene: Scene,
  settings: Record<string, string> = {},
  args: readonly string[] = [],
): Promise<Archive> {
  const program = scene.start(['serve-archive', ...args], { ...SETTINGS, ...settings });
  const [, url = ''] = await program.saying(/serving .* at (http:\/\/\S+)\s/);
  return { scene, url, program };
}

const queryOf = (changes: Record<string, string>) =>
  Object.entries({ ...REFERENCE, ...changes })
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');

async function ask(
  url: string,
  changes: Record<string, string> = {},
  { resource = 'events', key = KEY, more = '' } = {},
) {
  const answer = await fetch(`${url}/api/${resource}?${queryOf(changes)}${more}`, {
    headers: { 'X-API-Key': key, Accept: 'application/json', 'Content-Type': 'application/json' },
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text, body: JSON.parse(text) };
}

describe('daywalk exports the archive from the archive', () => {
  test.each<[string, SimulatorOptions]>([
    [
      'datatables with a total of the whole store',
      { envelope: 'datatables', totals: 'unfiltered' },
    ],
    ['hits, total a lower bound', { envelope: 'hits', totals: { cap: 100 } }],
    [
      'nested, the total a text, split windows',
      { envelope: 'nested', totals: 'string', offsetCap: { limit: 80, answer: 400 } },
    ],
    [
      'a bare array without totals, exact comparison of fractions',
      { envelope: 'array', subSecond: 'exact' },
    ],
  ])('%s', async (_, options) => {
    const { scene, url, program } = await archive({ eventsPerDay: 150, ...options });
    const copy = await createTestDatabase();
    const ended = await runProgram(['backfill', ...RANGE], {
      environment: {
        DAYWALK_API_URL: url,
        DAYWALK_API_KEY: KEY,
        DATABASE_URL: copy.url,
        DAYWALK_PAGE_LENGTH: '37',
      },
      secrets: [KEY],
    });
    expect(ended, ended.stdout + ended.stderr + program.said()).toMatchObject({ code: 0 });
    for (const view of ['events', 'smart_events'] as const)
      for (const day of DAYS) {
        const wanted = await recordTexts(scene.database, view, day);
        const found = await recordTexts(copy, view, day);
        expect({ view, day, missing: difference(wanted, found) }).toEqual({
          view,
          day,
          missing: [],
        });
        expect({ view, day, strange: difference(found, wanted) }).toEqual({
          view,
          day,
          strange: [],
        });
      }
    expect((await recordTexts(copy, 'events')).length).toBeGreaterThan(200);
  });

  test('cuts too, where the day behind them is there', async () => {
    const { scene, url } = await archive({ subSecond: 'exact' });
    const copy = await createTestDatabase();
    const environment = { DAYWALK_API_URL: url, DAYWALK_API_KEY: KEY, DATABASE_URL: copy.url };
    const some = ['backfill', '--from', '2026-03-01', '--to', '2026-03-02'];
    const ended = await runProgram(some, { environment, secrets: [KEY] });
    expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 0 });
    for (const day of DAYS.slice(0, 2)) {
      const wanted = await recordTexts(scene.database, 'events', day);
      expect(difference(wanted, await recordTexts(copy, 'events', day))).toEqual([]);
      expect(difference(await recordTexts(copy, 'events', day), wanted)).toEqual([]);
    }
  });
});

describe('filters', () => {
  test('give what the simulated source gives, for each parameter; those without a field are refused', async () => {
    const { scene, url } = await serve(stored, ALL_FIELDS);
    const [one] = (await ask(url, { length: '1' })).body.data;
    const cases: (Readonly<Record<string, string>> & { fromDate?: string; toDate?: string })[] = [
      { search: 'LOGIN' },
      { search: 'dc-zürich' },
      { agent: one.agent.name },
      { agent: one.agent.id },
      { manager: 'wazuh-manager-2' },
      { manager_tags: 'lab,eu' },
      { agent_tags: 'dmz' },
      { organization: 'Contoso' },
      { detection_type: 'integrity' },
      { hideread: '1' },
      { rule_level: '5' },
      { rule_level_from: '5' },
      { rule_level_from: '5', rule_level_to: '9', agent: one.agent.name },
      { rule_mitre_technique: 'T1078' },
      { rule_mitre_technique: 'Password Guessing' },
      { rule_mitre_tactic: 'Credential Access' },
      { agent: 'nobody' },
      { fromDate: '2026-03-01 06:00:00', toDate: '2026-03-02 17:30:00', rule_level: '3' },
    ];
    for (const filters of cases) {
      const { fromDate = '2026-03-01 00:00:00', toDate = '2026-03-01 23:59:59', ...rest } = filters;
      const sent = scene.api.listed({
        resource: 'events',
        from: fromDate,
        to: toDate,
        ...rest,
      });
      const page = await ask(url, { ...filters, length: '1000' });
      const name = JSON.stringify(filters);
      expect(page.status, `${name} ${page.text.slice(0, 300)}`).toBe(200);
      const ids = (text: string) =>
        [...text.matchAll(/"id": ?(\d{16,})/g)].map(([, id]) => id).sort();
      expect(ids(page.text), name).toEqual(ids(sent.join()));
      expect(page.body, name).toMatchObject({
        recordsTotal: sent.length,
        recordsFiltered: sent.length,
      });
      expect(page.headers.get('x-total-count')).toBe(String(sent.length));
    }
    const refused = await ask(url, { filters: 'agent.name:web-01' });
    expect(refused).toMatchObject({
      status: 400,
      body: { error: expect.stringMatching(/^filters: /) },
    });
  });

  test('without a field in the settings a parameter is an error, never ignored', async () => {
    const { url } = await serve(stored);
    for (const name of ['agent_tags', 'manager_tags', 'organization', 'detection_type', 'hideread'])
      expect(await ask(url, { [name]: '1' })).toMatchObject({
        status: 400,
        body: {
          error: `${name}: no field of a record is known for it`,
          hint: expect.stringContaining(`archive.fields.${name}`),
        },
      });
  });

  test('a stream that was exported with exactly these filters answers them as the source did', async () => {
    const scene = await setScene();
    const { writeFileSync } = await import('node:fs');
    const { temporaryFolder } = await import('../support/program.ts');
    const file = `${temporaryFolder()}/daywalk.yaml`;
    writeFileSync(
      file,
      'streams:\n  labs:\n    resource: events\n    filters:\n      manager_tags: lab\n',
    );
    const settings = { DAYWALK_CONFIG: file };
    await scene.succeed(['backfill', ...RANGE], settings);
    const { url } = await serve(scene, settings);
    const sent = scene.api.listed({
      resource: 'events',
      from: '2026-03-01 00:00:00',
      to: '2026-03-01 23:59:59',
      manager_tags: 'lab',
    });
    expect((await ask(url, { manager_tags: 'lab' })).body.recordsFiltered).toBe(sent.length);
    expect(await ask(url, { manager_tags: 'prod' })).toMatchObject({
      status: 409,
      body: { hint: expect.stringContaining('labs') },
    });
  });
});

describe('paging', () => {
  test('any length gives the same list, and a page behind the end is empty', async () => {
    const { url } = await serve(stored);
    const list = async (length: number, changes: Record<string, string> = {}) => {
      const texts: unknown[] = [];
      for (let start = 0; ; start += length) {
        const { body } = await ask(url, {
          ...changes,
          start: String(start),
          length: String(length),
        });
        texts.push(...body.data);
        if (body.data.length === 0) return { texts, total: body.recordsFiltered };
      }
    };
    for (const changes of [{}, { toDate: '2026-03-03 23:59:59' }, { rule_level_from: '5' }]) {
      const whole = await list(1000, changes);
      expect(whole.texts).toHaveLength(whole.total);
      for (const length of [13, 41]) expect(await list(length, changes)).toEqual(whole);
    }
  });
});

describe('what is refused', () => {
  test('keys, paths, methods, parameters, lengths', async () => {
    const { url } = await serve(stored);
    expect(await ask(url, {}, { key: 'wrong' })).toMatchObject({ status: 401 });
    expect((await fetch(`${url}/nowhere`)).status).toBe(401);
    expect(await ask(url, {}, { resource: 'other' })).toMatchObject({ status: 404 });
    const posted = await fetch(`${url}/api/events?${queryOf({})}`, {
      method: 'POST',
      headers: { 'X-API-Key': KEY },
    });
    expect(posted.status).toBe(405);
    expect(await ask(url, {}, { more: '&extra=1' })).toMatchObject({
      status: 400,
      body: { problems: ['extra: there is no such parameter'] },
    });
    expect(await ask(url, { length: '10001' })).toMatchObject({
      status: 400,
      body: { problems: ['length: the largest is 10000'] },
    });
    expect(
      await ask(url, { fromDate: '2026-02-30 00:00:00', start: '-1', toDate: '' }),
    ).toMatchObject({
      status: 400,
      body: {
        problems: expect.arrayContaining([
          expect.stringMatching(/^start/),
          expect.stringMatching(/^fromDate/),
          expect.stringMatching(/^toDate/),
        ]),
      },
    });
    expect(await ask(url, { toDate: '2026-02-01 00:00:00' })).toMatchObject({ status: 400 });
    expect(await ask(url, { search: 'a\0b' })).toMatchObject({ status: 400 });
    // What means something to a path of SQL/JSON or to a pattern is a text like any other.
    for (const search of ['"', '\\', '.*', "' or 1=1 --", '")) || (true', '\u{1F600}'])
      for (const name of ['search', 'agent', 'rule_mitre_tactic'])
        expect((await ask(url, { [name]: search, length: '1' })).status, `${name}=${search}`).toBe(
          200,
        );
    expect((await ask(url, { search: '.*' })).body.recordsFiltered).toBe(0);
  });

  test('a day that is not complete: a hole is never invisible', async () => {
    const { url, program } = await serve(stored);
    const reaching = { toDate: '2026-03-05 12:00:00' };
    expect(await ask(url, reaching)).toMatchObject({
      status: 409,
      body: { stream: 'events', incomplete: ['2026-03-04', '2026-03-05'] },
    });
    program.kill('SIGTERM');
    expect(await program.ended).toMatchObject({ code: 143 });
  });

  test('a record without a time, where a piece of its day is asked for', async () => {
    const { url } = await serve(stored, { DAYWALK_ARCHIVE_FIELDS: '{time: no.such.field}' });
    expect((await ask(url)).status).toBe(200);
    expect(await ask(url, { toDate: '2026-03-01 11:59:59' })).toMatchObject({
      status: 422,
      body: { hint: expect.stringContaining('archive.fields.time') },
    });
  });

  test('no key: nothing is served', async () => {
    const scene = await setScene();
    const ended = await scene.run(['serve-archive']);
    expect(ended).toMatchObject({ code: 2 });
    expect(ended.stderr).toMatch(/archive\.key is not set[\s\S]*DAYWALK_ARCHIVE_KEY/);
  });

  test('a port that is taken', async () => {
    const { scene, url } = await serve(stored);
    const taken = await scene.run(['serve-archive'], {
      ...SETTINGS,
      DAYWALK_ARCHIVE_LISTEN: new URL(url).host,
    });
    expect(taken).toMatchObject({ code: 2 });
    expect(taken.stderr).toMatch(
      /the archive cannot be served at 127\.0\.0\.1:\d+: another program uses this port[\s\S]*--archive-listen/,
    );
  });
});
