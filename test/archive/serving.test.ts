/** The served archive over HTTP against who would have a wrong answer, or all of its memory and time. */
import { connect } from 'node:net';
import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { until } from '../support/condition.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { andAtNight } from '../support/night.ts';
import {
  ARCHIVE_DAY as DAY,
  ARCHIVE_KEY as KEY,
  serveStored,
  storeDays,
} from '../support/served-archive.ts';
import { ask } from '../support/status-scene.ts';
import { clear } from '../support/store.ts';

const NEXT = '2026-03-06';

let server: TestDatabase;
beforeAll(async () => {
  server = await createTestDatabase();
});
beforeEach(() => clear(server));

const store = (days: Parameters<typeof storeDays>[1]) => storeDays(server, days);
const serve = () => serveStored(server);

describe('a filter', () => {
  it('behind a second question mark counts: a value may hold one', async () => {
    await store({
      [DAY]: [[{ agent: { name: 'a' }, manager: { name: '?' } }, { agent: { name: 'b' } }]],
    });
    const { total, get } = await serve();
    expect(await total('manager=?')).toBe(1);
    expect(await total('manager=?&agent=a')).toBe(1);
    expect(await total('manager=?&agent=b')).toBe(0);
    expect((await get('agent=a&agent=b')).status).toBe(400);
    expect((await get('agent=a&%61gent=b')).status).toBe(400);
  });

  it('on a field that no record has is an error that names it and what there is', async () => {
    await store({ [DAY]: [[{ agent: { name: 'a' }, tags: [{ of: 1 }], '': 'without a name' }]] });
    const { get, total } = await serve();
    expect(await get('manager=m')).toMatchObject({
      status: 422,
      body: {
        error: expect.stringMatching(/^manager is compared with manager\.name: /),
        hint: expect.stringContaining(
          'There are agent (object), agent.name (string), tags (object), tags.of (number).',
        ),
        parameters: ['manager'],
        fields: { 'agent.name': ['string'], 'tags.of': ['number'] },
      },
    });
    expect(await get('hideread=1')).toMatchObject({
      status: 422,
      body: { parameters: ['hideread'] },
    });
    expect(await total('agent=nobody')).toBe(0);
    expect(await total('search=nothing')).toBe(0);
  });

  it('that finds nothing is answered where other days have its field', async () => {
    await store({ [DAY]: [[{ agent: { name: 'a' } }]], [NEXT]: [[{ manager: { name: 'm' } }]] });
    const { total } = await serve();
    expect(await total('manager=m')).toBe(0);
    expect(await total('manager=m', NEXT)).toBe(1);
  });

  it('that finds nothing is answered where its field is too rare to be seen in some records', async () => {
    const many = Array.from({ length: 300 }, () => ({ agent: { name: 'a' } }));
    await store({ [DAY]: [many, [{ manager: { name: 'm' } }]] });
    const { total } = await serve();
    expect(await total('manager=other')).toBe(0);
  });

  it('on a field of another type is an error, in all records or in some', async () => {
    await store({
      [DAY]: [[{ agent: { name: 'a' }, rule: { level: 'high' } }]],
      [NEXT]: [[{ agent: { name: 'b' }, rule: { level: 12 } }, { rule: { level: '7' } }, {}]],
    });
    const { total } = await serve();
    const refused = {
      status: 422,
      error: expect.stringMatching(/^rule_level_from is compared with rule\.level: 1 record/),
      parameters: ['rule_level_from'],
      fields: { 'rule.level': ['number', 'string'] },
    };
    expect(await total('rule_level_from=5')).toMatchObject(refused);
    expect(await total('rule_level_from=5', NEXT)).toMatchObject(refused);
    // What another filter leaves out need not be compared.
    expect(await total('rule_level_from=5&agent=b', NEXT)).toBe(1);
    expect(await total('rule_level_from=5&agent=a', NEXT)).toMatchObject({
      status: 422,
      parameters: ['agent', 'rule_level_from'],
    });
  });

  it.each(
    andAtNight<[string, unknown, string, number | 'refused']>(
      [
        ['a list of words', ['a', 'b'], 'agent=b', 1],
        ['a number', 7, 'agent=7', 1],
        ['an object', { a: 1 }, 'agent=a', 'refused'],
        ['null beside a word', null, 'agent=a', 0],
      ],
      [
        ['a truth', true, 'agent=true', 1],
        ['a list of lists', [['x']], 'agent=a', 'refused'],
      ],
    ),
  )('is compared with %s', async (_, name, query, found) => {
    await store({ [DAY]: [[{ agent: { name } }, { agent: { name: 'other' } }]] });
    const { total } = await serve();
    const got = await total(query);
    if (found === 'refused') expect(got).toMatchObject({ status: 422, parameters: ['agent'] });
    else expect(got).toBe(found);
  });

  it.each(
    andAtNight<[string, unknown, number | 'refused']>(
      [
        ['the word true', 'true', 1],
        ['0', 0, 2],
        ['nothing', undefined, 2],
        ['another word', 'yes', 'refused'],
      ],
      [
        ['true', true, 1],
        ['1', 1, 1],
        ['false', false, 2],
        ['null', null, 2],
        ['an empty text', '', 2],
        ['another number', 2, 'refused'],
        ['an object', {}, 'refused'],
      ],
    ),
  )('hideread leaves out what is read: %s', async (_, read, found) => {
    await store({ [DAY]: [[{ read }, { read: false }]] });
    const { total } = await serve();
    const got = await total('hideread=1');
    if (found === 'refused') expect(got).toMatchObject({ status: 422, parameters: ['hideread'] });
    else expect(got).toBe(found);
  });
});

describe('time and memory', () => {
  const lock = async () => {
    const holder = await server.pool.connect();
    await holder.query('begin; lock daywalk.pages');
    let held = true;
    const release = async () => {
      if (!held) return;
      held = false;
      await holder.query('rollback');
      holder.release();
    };
    onTestFinished(release);
    return release;
  };
  const waiting = async () => {
    const rows = await server.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rows.length;
  };
  const ROWS = { [DAY]: [[{ agent: { name: 'a' } }, { agent: { name: 'b' } }]] };

  it('are not spent on texts of any length', async () => {
    await store(ROWS);
    const { get, url, total } = await serve();
    const started = process.memoryUsage().heapUsed;
    for (let count = 0; count < 31; count++) {
      const long = await get(`search=${'%5C'.repeat(2_000)}${count}`);
      expect([long.status, long.body.error]).toEqual([400, 'search: is longer than 1000 letters']);
      const path = `/api/events?search=${'\\'.repeat(15_000)}`;
      expect((await ask(url, path, { headers: { 'x-api-key': KEY } })).status).toBe(414);
    }
    expect(process.memoryUsage().heapUsed - started).toBeLessThan(30_000_000);
    expect(await total(`search=${'\\'.repeat(1_000)}`)).toBe(0);
  });

  it('of one question end: it is cancelled in Postgres, told with a time to come again, and goes on then', async () => {
    await store(ROWS);
    const { get, pass, total } = await serve();
    const release = await lock();
    const asked = get('agent=a');
    await until('a statement that waits', async () => (await waiting()) === 1);
    pass();
    expect(await asked).toMatchObject({
      status: 503,
      headers: { 'retry-after': '1' },
      body: { error: 'not answered within 30 s' },
    });
    await until('no statement that waits', async () => (await waiting()) === 0);
    await release();
    expect(await total('agent=a')).toBe(1);
  });

  it('are for some questions at once, whoever goes away; keys are looked at all the same', async () => {
    await store(ROWS);
    const { get, url, pass, total } = await serve();
    const release = await lock();
    const first = [get('agent=a'), get('agent=b')];
    const { port } = new URL(url);
    for (const name of ['c', 'd']) {
      const socket = connect(Number(port), '127.0.0.1').on('error', () => {});
      const query = `fromDate=${DAY}%2000:00:00&toDate=${DAY}%2023:59:59&agent=${name}`;
      socket.write(
        `GET /api/events?${query} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${KEY}\r\n\r\n`,
      );
      onTestFinished(() => void socket.destroy());
      await until('its statement waits', async () => (await waiting()) >= (name === 'c' ? 3 : 4));
      socket.destroy();
    }
    for (let count = 0; count < 10; count++)
      expect(await get('agent=e')).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    expect((await ask(url, '/api/events')).status).toBe(401);
    expect(await waiting()).toBe(4);
    pass();
    for (const { status } of await Promise.all(first)) expect(status).toBe(503);
    await until('no statement that waits', async () => (await waiting()) === 0);
    await release();
    await until('an answer', async () => (await total('agent=a')) === 1);
  });
});
