/** The random servers do over HTTP what their nature says. */
import { expect, onTestFinished, test } from 'vitest';
import { edgesOf } from './listing.ts';
import { type Nature, natureOf } from './nature.ts';
import { startServer } from './server.ts';
import { World } from './world.ts';

/** A server in which nothing is out of the ordinary; the seed is one of the class `quiet`. */
const PLAIN: Nature = {
  ...natureOf(11),
  envelope: 'django',
  total: 'exact',
  maxLength: null,
  deep: null,
  newestFirst: false,
  fromIncluded: true,
  toIncluded: true,
  fractions: false,
  shortest: 0,
  volatile: null,
  ids: false,
  emptyAnswer: 'same',
  weather: 0,
  cacheSeconds: 0,
  changes: { during: 0, later: 0 },
  size: 45,
  bursts: 'none',
};

async function asking(changes: Partial<Nature>) {
  const nature = { ...PLAIN, ...changes };
  const server = await startServer(nature, new World(nature));
  onTestFinished(() => server.close());
  return async (start: number, length: number, day = '2026-03-01') => {
    const span = `fromDate=${day}%2000%3A00%3A00&toDate=${day}%2023%3A59%3A59`;
    const answer = await fetch(
      `${server.url}/api/events?start=${start}&length=${length}&${span}&rule_level_from=&rule_level_to=`,
    );
    const text = await answer.text();
    return { status: answer.status, body: text.startsWith('{') ? JSON.parse(text) : text };
  };
}

test('pages follow each other, and the total counts the window', async () => {
  const ask = await asking({});
  const { body } = await ask(0, 1_000);
  expect(body.results).toHaveLength(body.count);
  const second = await ask(10, 5);
  expect(second.body.results).toEqual(body.results.slice(10, 15));
  const none = await ask(0, 10, '2026-07-01');
  expect(none.body).toMatchObject({ count: 0, results: [], next: null });
});

test('a clamp, a refused length, a cap, paging by number', async () => {
  const clamped = await asking({ maxLength: { limit: 7, answer: 'clamp' } });
  expect((await clamped(0, 20)).body.results).toHaveLength(7);
  const refusing = await asking({ maxLength: { limit: 7, answer: 500 } });
  expect((await refusing(0, 8)).status).toBe(500);
  expect((await refusing(0, 7)).status).toBe(200);
  const capped = await asking({ deep: { limit: 20, answer: 'empty' }, size: 110 });
  expect((await capped(15, 10)).body.results).toHaveLength(5);
  expect((await capped(20, 10)).body.results).toHaveLength(0);
  const numbered = await asking({ byNumber: true });
  expect((await numbered(7, 5)).body.results).toEqual((await numbered(5, 5)).body.results);
});

test('nothing can be said in many ways', async () => {
  const empty = async (emptyAnswer: Nature['emptyAnswer']) =>
    (await asking({ emptyAnswer }))(0, 10, '2026-07-01');
  expect(await empty('204')).toMatchObject({ status: 204, body: '' });
  expect(await empty('404')).toMatchObject({ status: 404, body: { detail: expect.any(String) } });
  expect((await empty('null')).body.results).toBeNull();
  expect((await empty('absent')).body).not.toHaveProperty('results');
  expect((await empty('message')).body).toMatchObject({ message: 'no events', results: [] });
});

test('edges', () => {
  const [from, to] = [Date.UTC(2026, 2, 1, 10, 0, 30), Date.UTC(2026, 2, 1, 10, 1, 29)];
  const apart = (changes: Partial<Nature>) => {
    const [first, last] = edgesOf({ ...PLAIN, ...changes }, from, to);
    return [(first - from) / 1_000, (last - to) / 1_000];
  };
  expect(apart({})).toEqual([0, 0.999]);
  expect(apart({ fractions: true })).toEqual([0, 0]);
  expect(apart({ fromIncluded: false, toIncluded: false })).toEqual([1, -0.001]);
  expect(apart({ padSeconds: 2 })).toEqual([-2, 2.999]);
  expect(apart({ rounding: { how: 'out', seconds: 60 } })).toEqual([-30, 31.999]);
  expect(apart({ rounding: { how: 'in', seconds: 60 } })).toEqual([30, -28.001]);
  expect(apart({ rounding: { how: 'floor', seconds: 60 } })).toEqual([-30, -28.001]);
});
