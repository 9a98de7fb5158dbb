/** The status server over real HTTP: pages, health, headers, and what it refuses. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Clock, systemClock } from '../../src/clock.ts';
import { until } from '../support/condition.ts';
import { createTestDatabase } from '../support/database.ts';
import { handDeadlines } from '../support/hand-deadlines.ts';
import { violations } from '../support/json-schemas.ts';
import { CLOSED_PORT } from '../support/ports.ts';
import { type SimulatedExport, simulateExport } from '../support/simulated-export.ts';
import { ask, fillCalendar, type StatusScene, serveStatus } from '../support/status-scene.ts';

let exported: SimulatedExport;
let scene: StatusScene;
const noAnswer = () => false;
const get = (path: string, headers: Record<string, string> = {}) =>
  ask(scene.url, path, { headers });

beforeAll(async () => {
  exported = await simulateExport({ eventsPerDay: 150 }, { to: '2026-03-03' });
  scene = await serveStatus(exported.server.url);
});
afterAll(async () => {
  await scene?.close();
  await exported?.close();
});

const PAGES = [
  '/',
  '/now',
  '/day/events/2026-03-02',
  '/month/events/2026-03',
  '/page.css',
  '/page.js',
  '/icon.svg',
  '/livez',
  '/readyz',
  '/healthz',
  '/status.json',
  '/metrics',
];

describe('every answer', () => {
  it.each([...PAGES, '/nothing'])('%s carries the strict headers', async (path) => {
    const { headers } = await get(path);
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'cross-origin-resource-policy': 'same-origin',
    });
    expect(headers['content-security-policy']).toMatch(
      /^default-src 'none';.*base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    );
    expect(headers['content-security-policy']).not.toMatch(/unsafe|\*|data:/);
    expect(Object.keys(headers)).not.toContain('x-powered-by');
  });
  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE'])(
    '%s is refused',
    async (method) => {
      for (const path of ['/', '/metrics', '/nothing'])
        expect(await ask(scene.url, path, { method })).toMatchObject({
          status: 405,
          headers: { allow: 'GET, HEAD' },
        });
    },
  );
  it('to HEAD is that of GET without a body', async () => {
    const head = await ask(scene.url, '/livez', { method: 'HEAD' });
    expect(head).toMatchObject({ status: 200, body: '', headers: { 'content-length': '6' } });
  });
  it('goes to known names only', async () => {
    for (const host of ['evil.example', 'localhost.evil.example'])
      expect((await get('/metrics', { host })).status).toBe(421);
    for (const host of ['localhost:1', '127.0.0.1', '[::1]:8642', 'status.example'])
      expect((await get('/livez', { host })).status).toBe(200);
  });
  it('a path leads to nothing but itself', async () => {
    const paths = [
      '/../package.json',
      '/%2e%2e/%2e%2e/etc/passwd',
      '//etc/passwd',
      '/day/../metrics',
      '/day/events/..%2f',
      '/day/events/2026-03-02/',
      '/day/events/2026-02-30',
      '/day/events/9999-12-31',
      "/day/events'--/2026-03-02",
      '/day/unknown/2026-03-02',
      '/month/events/2026-13',
      '/page.css/',
      '/__proto__',
      '/constructor',
    ];
    for (const path of paths) expect([path, (await get(path)).status]).toEqual([path, 404]);
    expect((await get(`/${'x'.repeat(600)}`)).status).toBe(414);
    expect((await get('http://evil.example/')).status).toBe(400);
  });
  it('headers beyond any browser end the connection', async () => {
    expect((await get('/', { x: 'y'.repeat(20_000) })).status).toBe(431);
  });
});

describe('the pages', () => {
  it('tell health, coverage, volume, lateness and runs', async () => {
    const { status, body, headers } = await get('/');
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(body).toContain('<h1 id="health">events is late: ');
    expect(body).toMatch(
      /<a href="day\/events\/2026-03-02" tabindex="-1"><title>2026-03-02 complete, \d+ records<\/title><use href="#s-complete"/,
    );
    expect(body).toContain('aria-label="Records of events a day from ');
    expect(body).toContain('No record was found that came after its day had closed.');
    expect(body).toContain('<td>backfill 2026-03-01 to 2026-03-03</td>');
    expect(body).not.toMatch(/<style|style=|<script>|onclick|javascript:/i);
  });
  it('tell a day: proof, and the commands', async () => {
    const { status, body } = await get('/day/events/2026-03-02');
    expect(status).toBe(200);
    expect(body).toContain('events, 2 March 2026: complete');
    expect(body).toContain('Proof by ');
    expect(body).toContain('daywalk why 2026-03-02 --stream events');
  });
  it('tell a month, and a day of which nothing is known', async () => {
    expect(
      (await get('/month/events/2026-03')).body.match(/href="\.\.\/\.\.\/day\/events\//g)?.length,
    ).toBe(3);
    expect((await get('/day/events/2020-01-01')).body).toContain('not walked yet');
  });
  it('tell that a run was stopped, which is no error', async () => {
    const database = await createTestDatabase();
    await database.query(
      `insert into daywalk.runs (key, trigger, owner, outcome, error, finished_at)
       values (gen_random_uuid(), 'hand', 'here', 'interrupted', 'stopped by SIGINT', clock_timestamp())`,
    );
    const own = await serveStatus(database.url);
    onTestFinished(() => own.close());
    expect((await ask(own.url, '/')).body).toContain('<td class="fine">stopped</td>');
  });
  it('are compressed for who asks', async () => {
    const { headers } = await get('/', { 'accept-encoding': 'gzip' });
    expect(headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
  });
});

describe('for machines', () => {
  it('livez and readyz', async () => {
    expect(await get('/livez')).toMatchObject({ status: 200, body: 'alive\n' });
    expect(await get('/readyz')).toMatchObject({ status: 200, body: 'ready\n' });
  });
  it('healthz is 503 while the newest expected day is not proven, and says which', async () => {
    const { status, body } = await get('/healthz');
    expect(status).toBe(503);
    expect(JSON.parse(body)).toMatchObject({
      status: 'late',
      streams: [{ stream: 'events', fresh: false, lastComplete: '2026-03-03' }],
    });
  });
  it('healthz is 200 when it is proven, whatever failed long ago', async () => {
    const database = await createTestDatabase();
    // Today as well: should midnight pass meanwhile, it is the newest day.
    const today = new Date().toISOString().slice(0, 10);
    await fillCalendar(database, 'events', '2026-01-01', today);
    await database.query(
      `update daywalk.windows set state = 'failed', last_error = 'why' where day = '2026-02-01' and kind = 'day'`,
    );
    const own = await serveStatus(database.url);
    onTestFinished(() => own.close());
    const { status, body } = await ask(own.url, '/healthz');
    expect([status, JSON.parse(body).sentence]).toEqual([
      200,
      '1 day failed; the newest days are complete.',
    ]);
  });
  it('status.json is the document of `status --json`', async () => {
    const { status, body } = await get('/status.json');
    expect(status).toBe(200);
    expect(JSON.parse(body)).toMatchObject({
      streams: [{ stream: 'events' }],
      lastRun: { trigger: 'backfill', outcome: 'done' },
    });
    expect(violations('status', JSON.parse(body))).toEqual([]);
  });
  it('an empty database is told so everywhere', async () => {
    const own = await serveStatus((await createTestDatabase()).url, {
      streams: ['events', 'smart-event'],
    });
    onTestFinished(() => own.close());
    expect((await ask(own.url, '/')).body).toContain('Nothing is exported yet');
    expect(JSON.parse((await ask(own.url, '/healthz')).body).status).toBe('new');
    expect((await ask(own.url, '/day/events/2026-03-01')).status).toBe(200);
  });
});

describe('a database that is away', () => {
  it('is told by every page, in time, and the process lives', async () => {
    const waits: number[] = [];
    const sleep: Clock['sleep'] = (ms, signal) => {
      waits.push(ms);
      return systemClock.sleep(ms, signal);
    };
    const own = await serveStatus(`postgres://nobody@127.0.0.1:${CLOSED_PORT}/nothing`, {
      clock: { ...systemClock, sleep },
    });
    onTestFinished(() => own.close());
    for (const path of ['/', '/now', '/day/events/2026-03-01', '/month/events/2026-03']) {
      const { status, body } = await ask(own.url, path);
      expect([path, status]).toEqual([path, 503]);
      expect(body).toContain('The database is away, so there is nothing to show.');
    }
    expect((await ask(own.url, '/readyz')).status).toBe(503);
    expect(JSON.parse((await ask(own.url, '/healthz')).body).status).toBe('unknown');
    expect((await ask(own.url, '/status.json')).status).toBe(503);
    expect((await ask(own.url, '/livez')).status).toBe(200);
    const metrics = (await ask(own.url, '/metrics')).body;
    expect(metrics).toContain('daywalk_database_up 0');
    expect(metrics).not.toContain('daywalk_fresh{');
    // Nobody was kept waiting for a database that may come back.
    expect(waits).toEqual([]);
  });
});

/** No element of a stranger, and no letter that steers a terminal or turns text around. */
function expectHarmless(body: string): void {
  for (const evil of ['<script>', '<img', '\u001b', '\u202e']) expect(body).not.toContain(evil);
}

it('a source that answers one question in different ways is told, on the page and to programs', async () => {
  const database = await createTestDatabase();
  await fillCalendar(database, 'events', '2026-03-01', '2026-03-03');
  await database.query(
    `insert into daywalk.learned (stream_id, fact, value, evidence) select stream_id, 'restless', 'true', 'asked twice' from daywalk.streams`,
  );
  const own = await serveStatus(database.url);
  onTestFinished(() => own.close());
  expect((await ask(own.url, '/')).body).toContain('gives different answers to the same request');
  expect(JSON.parse((await ask(own.url, '/status.json')).body).restless).toEqual(['events']);
});

it('hostile text stays text, on every page', async () => {
  const database = await createTestDatabase();
  const evil = `"><script>alert(1)</script>'&\u001b[2J\u202e`;
  const name = `x"><img src=x onerror=alert(1)>`;
  await fillCalendar(database, 'events', '2026-03-01', '2026-03-03');
  await database.query('alter table daywalk.streams drop constraint streams_name_check');
  await database.query('update daywalk.streams set name = $1', [name]);
  await database.query(
    `update daywalk.windows set state = 'failed', last_error = $1, last_failed_at = clock_timestamp(), split_reason = $1 where day < '2026-03-03'`,
    [evil],
  );
  await database.query(
    `update daywalk.windows set lease_id = gen_random_uuid(), lease_owner = $1, lease_expires = clock_timestamp() + interval '1 hour' where day = '2026-03-03'`,
    [evil],
  );
  await database.query(`update daywalk.walks set reason = $1`, [evil]);
  await database.query(
    `insert into daywalk.runs (key, trigger, owner, outcome, error, finished_at) values (gen_random_uuid(), 'hand', $1, 'unexpected', $1, clock_timestamp())`,
    [evil],
  );
  const own = await serveStatus(database.url, { streams: [name] });
  onTestFinished(() => own.close());
  own.activity.endedEarly = evil;
  for (const path of ['/', '/now']) {
    const { status, body } = await ask(own.url, path);
    expect([path, status]).toEqual([path, 200]);
    expect(body).toContain('&#60;script&#62;alert(1)');
    expect(body).toContain('\\u001b[2J\\u202e');
    expectHarmless(body);
  }
  // The same in the pages below, which a path with such a name cannot reach.
  await database.query(`update daywalk.streams set name = 'events'`);
  const below = await serveStatus(database.url);
  onTestFinished(() => below.close());
  for (const path of [
    '/day/events/2026-03-01',
    '/day/events/2026-03-03',
    '/month/events/2026-03',
  ]) {
    const { body } = await ask(below.url, path);
    expect(body).toContain('&#60;script&#62;alert(1)');
    expectHarmless(body);
  }
  const { body } = await ask(below.url, '/metrics');
  expect(body).not.toContain('alert(1)');
});

it('a client that sends its request drop by drop loses its connection, and others are served meanwhile', async () => {
  const { port } = new URL(scene.url);
  const began = performance.now();
  const slow = connect(Number(port), '127.0.0.1');
  slow.write('GET / HTTP/1.1\r\nHost: localhost\r\nX: ');
  let said = '';
  slow.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  slow.on('error', () => {});
  const drops = setInterval(() => slow.write('y'), 200);
  expect((await get('/livez')).status).toBe(200);
  await new Promise((resolve) => slow.once('close', resolve));
  clearInterval(drops);
  // Node alone would have let it go on for a minute.
  expect(performance.now() - began).toBeLessThan(50_000);
  expect(said).toMatch(/^HTTP\/1\.1 408 /);
});

it('more connections than it takes are closed at once, and it goes on', async () => {
  const { port } = new URL(scene.url);
  const sockets = Array.from({ length: 90 }, () => connect(Number(port), '127.0.0.1'));
  const closed = sockets.map(
    (socket) => new Promise((resolve) => socket.on('error', () => {}).once('close', resolve)),
  );
  await Promise.any(closed);
  for (const socket of sockets) socket.destroy();
  await Promise.all(closed);
  // It learns one by one that they are gone.
  const goesOn = () => get('/livez').then(({ status }) => status === 200, noAnswer);
  await until('a connection that is taken', goesOn);
});

it('connections that are held open idle do not keep /readyz from an answer', async () => {
  const { port } = new URL(scene.url);
  const sockets = await Promise.all(
    Array.from({ length: 64 }, async () => {
      const socket = connect(Number(port), '127.0.0.1').on('error', () => {});
      socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n');
      await once(socket, 'data');
      return socket;
    }),
  );
  for (let count = 0; count < 5; count++) expect((await get('/readyz')).status).toBe(200);
  for (const socket of sockets) socket.destroy();
});

it('visitors of many pages cannot fill the database, whatever it waits for', async () => {
  const deadlines = handDeadlines();
  const own = await serveStatus(exported.server.url, { clock: deadlines.clock });
  onTestFinished(() => own.close());
  const holder = await exported.server.pool.connect();
  await holder.query('begin; lock daywalk.windows');
  const waiting = async () =>
    (
      await exported.server.query<{ pid: number }>(
        `select pid from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
    ).map(({ pid }) => pid);
  try {
    let ended = false;
    const visits = Promise.all(
      Array.from({ length: 24 }, (_, day) =>
        ask(own.url, `/day/events/2026-03-${10 + (day % 12)}`),
      ),
    ).finally(() => {
      ended = true;
    });
    const givenUp = new Set<number>();
    while (!ended) {
      // One that was given up may be there still, when the next one begins.
      const backends = (await waiting()).filter((pid) => !givenUp.has(pid));
      expect(backends.length).toBeLessThanOrEqual(1);
      // One deadline for each statement: a second one would be that of its cancellation.
      if (backends[0] !== undefined) {
        givenUp.add(backends[0]);
        expect(await ask(own.url, '/livez')).toMatchObject({ status: 200 });
        deadlines.pass();
      }
    }
    for (const { status } of await visits) expect(status).toBe(503);
    expect(givenUp.size).toBeGreaterThan(0);
    await until('nobody who waits', async () => (await waiting()).length === 0);
  } finally {
    await holder.query('rollback');
    holder.release();
  }
});

it('a port that is taken is told, with what to do', async () => {
  const { port } = new URL(scene.url);
  const taken = serveStatus(exported.server.url, { port: Number(port) });
  await expect(taken).rejects.toMatchObject({
    message: `the status page cannot be served at 127.0.0.1:${port}: another program uses this port (another daywalk, perhaps)`,
    hint: expect.stringContaining('DAYWALK_STATUS_LISTEN'),
  });
});
