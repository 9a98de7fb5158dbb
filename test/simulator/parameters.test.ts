/** Which requests the simulator accepts. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';
import { ask, askRaw, REFERENCE, target } from './asking.ts';

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({ prefix: '/tenant-7', eventsPerDay: 5 });
});
afterAll(() => simulator.close());

const tenant = (path: string) => `/tenant-7${path}`;
const problems = async (path: string) => {
  const reply = await askRaw(simulator, tenant(path));
  expect(reply.status).toBe(400);
  return JSON.parse(reply.text).problems;
};

test('the reference request is answered on both resources, below the prefix only', async () => {
  expect((await askRaw(simulator, tenant(target()))).status).toBe(200);
  expect((await askRaw(simulator, tenant(target({}, 'smart-event')))).status).toBe(200);
  expect((await ask(simulator)).status).toBe(404);
  expect((await askRaw(simulator, tenant('/api/other'))).status).toBe(404);
  expect(simulator.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/tenant-7$/);
});

test('a missing or wrong key is 401, another method 405, a body 400', async () => {
  const wrong = { 'X-API-Key': 'other' };
  expect((await askRaw(simulator, tenant(target()), wrong)).status).toBe(401);
  const post = await askRaw(simulator, tenant(target()), {}, 'POST');
  expect([post.status, post.headers.allow]).toEqual([405, 'GET']);
  const body = await askRaw(simulator, tenant(target()), { 'Transfer-Encoding': 'chunked' });
  expect(body.status).toBe(400);
});

describe('each of the eighteen parameters', () => {
  test.each(Object.keys(REFERENCE))('%s must be there', async (name) => {
    expect(await problems(target({ [name]: undefined }))).toEqual([`missing parameter: ${name}`]);
  });

  test('may come once, and no other may come', async () => {
    expect(await problems(`${target()}&agent=x&draw=1`)).toEqual([
      'repeated parameter: agent',
      'unknown parameter: draw',
    ]);
  });
});

test.each([
  ['start', '-1'],
  ['start', ''],
  ['start', '1.0'],
  ['length', '0'],
  ['length', 'all'],
  ['fromDate', ''],
  ['fromDate', '2026-03-01'],
  ['fromDate', '2026-03-01T00:00:00'],
  ['fromDate', '2026-02-30 00:00:00'],
  ['toDate', '2026-03-01 24:00:00'],
  ['toDate', '2026-03-01 23:59:59.999'],
  ['toDate', '2026-02-28 23:59:59'],
  ['rule_level', 'high'],
  ['rule_level_from', '3-5'],
  ['rule_level_to', '-1'],
  ['hideread', 'true'],
  ['filters', 'no colon'],
])('%s may not be "%s"', async (name, value) => {
  const [problem] = await problems(target({ [name]: value }));
  expect(problem).toMatch(new RegExp(`^${name}: `));
});

test('a plus and a broken percent sequence are refused', async () => {
  const plus = target().replace('2026-03-01%2000', '2026-03-01+00');
  expect((await problems(plus))[0]).toContain('"+"');
  expect((await problems(`${target()}%zz`))[0]).toContain('percent');
});

test('the other two headers are asked for when the switch says so', async () => {
  simulator.set({ requireHeaders: true });
  expect(await problems(target())).toHaveLength(2);
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json' };
  expect((await askRaw(simulator, tenant(target()), headers)).status).toBe(200);
  simulator.set({ requireHeaders: false });
});

test('switches and options that make no sense are refused and change nothing', async () => {
  const before = simulator.switches;
  const wrong = [
    { order: 'random' },
    { nonsense: 1 },
    { totals: { cap: -1 } },
    { timeZone: 'Mars/Olympus' },
    { faults: [{ kind: 'status' }] },
    { faults: [{ kind: 'html', bytes: 1 }] },
    { latency: [5, 1] },
  ];
  for (const changes of wrong) expect(() => simulator.set(changes as never)).toThrow();
  expect(simulator.switches).toBe(before);
  await expect(startSimulator({ eventsPerDay: -1 })).rejects.toThrow('eventsPerDay');
  await expect(startSimulator({ from: '2026-13-01' })).rejects.toThrow('from');
  await expect(startSimulator({ port: simulator.port })).rejects.toThrow('cannot listen');
});
