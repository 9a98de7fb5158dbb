/** `daywalk serve-archive`: whatever spoke to the source can read what is stored, daywalk itself first of all. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { backfillHere } from '../support/backfill-here.ts';
import { atNight } from '../support/night.ts';
import { temporaryFolder } from '../support/program.ts';
import { setExported, setScene } from '../support/scene.ts';
import { ask, expectSameCopied, KEY, queryOf, serve } from './archives.ts';

const ALL_FIELDS = {
  DAYWALK_ARCHIVE_FIELDS:
    '{agent_tags: agent.tags, manager_tags: manager.tags, organization: organization, detection_type: detection_type, hideread: read}',
};

/** Three days of events. */
const stored = () =>
  setExported(
    { from: '2026-03-01', to: '2026-03-03' },
    { DAYWALK_STREAMS: 'events' },
    { eventsPerDay: 150 },
  );

test('daywalk exports the archive from the archive: a bare array without totals, exact comparison of fractions', () =>
  expectSameCopied(
    { envelope: 'array', subSecond: 'exact' },
    { stored: ['2026-03-01', '2026-03-03'], copied: ['2026-03-02'], views: ['events'] },
  ));

describe('filters', () => {
  test('give what the simulated source gives, for each parameter; those without a field are refused', async () => {
    const { scene, url } = await serve(await stored(), ALL_FIELDS);
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

  test('a stream that was exported with exactly these filters answers them as the source did', async () => {
    const scene = await setScene();
    const file = join(temporaryFolder(), 'daywalk.yaml');
    await writeFile(
      file,
      'streams:\n  labs:\n    resource: events\n    filters:\n      manager_tags: lab\n',
    );
    const settings = { DAYWALK_CONFIG: file };
    const day = { from: '2026-03-01', to: '2026-03-01' };
    await backfillHere(scene, day, { environment: settings });
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

atNight(
  'any length gives the same list, a hole is never invisible, and what cannot be asked for is refused',
  async () => {
    const { url, program } = await serve(await stored());
    await expectSameList(url);
    await expectHoleTold(url);
    await expectRefused(url);
    await expectNoFieldTold(url);
    program.kill('SIGTERM');
    expect(await program.ended).toMatchObject({ code: 143 });
  },
);

/** A page behind the end is empty. */
async function expectSameList(url: string): Promise<void> {
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
  for (const [changes, lengths] of [
    [{}, [13, 41]],
    [{ toDate: '2026-03-03 23:59:59' }, [41]],
    [{ rule_level_from: '5' }, [13]],
  ] as const) {
    const whole = await list(1000, changes);
    expect(whole.texts).toHaveLength(whole.total);
    for (const length of lengths) expect(await list(length, changes)).toEqual(whole);
  }
}

/** A day that is not complete. */
async function expectHoleTold(url: string): Promise<void> {
  const reaching = { toDate: '2026-03-05 12:00:00' };
  expect(await ask(url, reaching)).toMatchObject({
    status: 409,
    body: { stream: 'events', incomplete: ['2026-03-04', '2026-03-05'] },
  });
}

/** Keys, paths, methods, parameters, lengths. */
async function expectRefused(url: string): Promise<void> {
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
}

/** Without a field in the settings a parameter is an error, never ignored. */
async function expectNoFieldTold(url: string): Promise<void> {
  for (const name of ['agent_tags', 'manager_tags', 'organization', 'detection_type', 'hideread'])
    expect(await ask(url, { [name]: '1' })).toMatchObject({
      status: 400,
      body: {
        error: `${name}: no field of a record is known for it`,
        hint: expect.stringContaining(`archive.fields.${name}`),
      },
    });
}

describe('what is not served', () => {
  test('a record without a time, where a piece of its day is asked for', async () => {
    const { url } = await serve(await stored(), {
      DAYWALK_ARCHIVE_FIELDS: '{time: no.such.field}',
    });
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
});
