/** Answers without records that say themselves that they are none: work goes on, or what was asked for was not looked for. */
import { expect, it } from 'vitest';
import type { TestDatabase } from '../support/database.ts';
import { andAtNight } from '../support/night.ts';
import { letTimePass } from '../support/pass-time.ts';
import { freshStore, records } from '../support/store.ts';
import {
  closedDays,
  type Exporting,
  newStream,
  readResults,
  runOnce,
  SETTLE_MS,
} from './exporting.ts';
import { type Habits, ImaginedSource } from './imagined-source.ts';

let server: TestDatabase;
const DAYS = closedDays(4);
const [one = '', two = '', , four = ''] = DAYS;
freshStore((store) => {
  ({ server } = store);
});

type Wrap = NonNullable<Habits['wrap']>;

/** A stream of four days, of which the third has no records, and what comes of them in one run after the other. */
function fourDays(wrap: Wrap, counts: readonly number[] = [12, 7, 0, 9]) {
  const lists = DAYS.map((day, n) => [day, records(1_000 * (n + 1), counts[n] ?? 0)] as const);
  const source = new ImaginedSource(Object.fromEntries(lists), { totals: 'exact', wrap });
  const exporting: Exporting = { server, source, stream: newStream(), since: one, recheckDays: 7 };
  return async () => {
    await runOnce(exporting);
    const results = [...(await readResults(server, exporting.stream)).values()];
    await letTimePass(server, '25 hours');
    return {
      states: results.map(({ state, published }) => `${state} ${published.length}`),
      errors: results.flatMap(({ lastError }) => lastError ?? []),
    };
  };
}

it.each(andAtNight(['PENDING'], ['RUNNING', 'wait']))(
  'a search that is still running (%s) shows no empty day, and all of it once it is done',
  async (status) => {
    let isDone = false;
    const run = fourDays((list, total, { from }) =>
      !isDone && from >= `${four} 00:00:00`
        ? `{"status":"${status}","total":0,"data":[]}`
        : `{"status":"COMPLETED","total":${total},"data":[${list.join(',')}]}`,
    );
    for (let day = 0; day < 2; day += 1) {
      const { states, errors } = await run();
      expect(states).toEqual(['complete 12', 'complete 7', 'complete 0', 'failed 0']);
      expect(errors).toEqual([expect.stringContaining(status)]);
    }
    isDone = true;
    expect((await run()).states).toEqual(['complete 12', 'complete 7', 'complete 0', 'complete 9']);
  },
);

it.each(
  andAtNight(
    [['in words', '"message":"Data for this date has been archived. Submit a restore request."']],
    [
      ['by a flag', '"archived":true,"location":"s3://cold/2026"'],
      ['by a job that is queued for it', '"status":"QUEUED","job_id":"a81-22"'],
    ],
  ),
)(
  'old days of which the answer says that they were not looked for are not empty: %s',
  async (_, said) => {
    const run = fourDays((list, total, { from, to }) =>
      from < two && to < two
        ? `{"total":0,"data":[],${said}}`
        : `{"total":${total},"data":[${list.join(',')}]}`,
    );
    for (let day = 0; day < 3; day += 1) {
      const { states, errors } = await run();
      expect(states).toEqual(['failed 0', 'complete 7', 'complete 0', 'complete 9']);
      expect(errors).toEqual([expect.stringMatching(/archived|QUEUED/)]);
    }
  },
);

it.each(
  andAtNight(
    [
      ['of which each says that its service runs', '"status":"running"', '"status":"running"'],
      [
        'of which empty ones say that nothing is archived',
        '',
        '"message":"No archived events found"',
      ],
    ],
    [
      [
        'of which each says that its archive is not searched',
        '"note":"Archived data is not searched"',
        '"note":"Archived data is not searched"',
      ],
    ],
  ),
)('answers %s show an empty day', async (_, full, empty) => {
  // The empty day comes first, when nothing is known of the stream yet.
  const run = fourDays(
    (list, total) =>
      `{${[list.length > 0 ? full : empty, `"total":${total}`].filter((key) => key !== '').join(',')},"data":[${list.join(',')}]}`,
    [0, 7, 0, 9],
  );
  const expected = { states: ['complete 0', 'complete 7', 'complete 0', 'complete 9'], errors: [] };
  expect(await run()).toEqual(expected);
  expect(await run()).toEqual(expected);
});

it('a quiet first run is made up for once answers with records say that their service runs, too', async () => {
  const lists = { [two]: records(2_000, 5) };
  const source = new ImaginedSource(lists, {
    totals: 'exact',
    wrap: (list, total) => `{"status":"running","total":${total},"data":[${list.join(',')}]}`,
  });
  const settled = { server, source, stream: newStream(), since: one };
  await runOnce({ ...settled, settleMs: SETTLE_MS + 3 * 86_400_000 });
  expect((await readResults(server, settled.stream)).get(one)?.state).toBe('failed');
  await runOnce(settled);
  const results = [...(await readResults(server, settled.stream)).values()];
  expect(results.map(({ state, published }) => `${state} ${published.length}`)).toEqual([
    'complete 0',
    'complete 5',
    'complete 0',
    'complete 0',
  ]);
});

it('days that fail with records wait for their next try, also where none was ever proven', async () => {
  const lists = { [one]: records(1_000, 5), [two]: records(2_000, 5) };
  const source = new ImaginedSource(lists, { startIgnored: true });
  const settleMs = SETTLE_MS + 2 * 86_400_000;
  const exporting = { server, source, stream: newStream(), since: one, settleMs };
  const failuresOf = () =>
    server.query<{ failures: number }>(
      `select failures from daywalk.windows where kind = 'day' order by day`,
    );
  await runOnce(exporting);
  expect(await failuresOf()).toEqual([{ failures: 1 }, { failures: 1 }]);
  await server.query(
    `update daywalk.windows set due_at = clock_timestamp() where kind = 'day' and day = '${two}'`,
  );
  await runOnce(exporting);
  expect(await failuresOf()).toEqual([{ failures: 1 }, { failures: 2 }]);
});

it.each(
  andAtNight(
    [
      [
        'without a list',
        '{"status":"blocked","message":"Request blocked","support_id":"1844674407"}',
      ],
    ],
    [['with an empty list', '{"total":0,"data":[],"policy":"blocked by content filter"}']],
  ),
)('a day that a gateway blocks is not empty: %s', async (_, blocked) => {
  const wrap: Wrap = (list, total, { from, to }) =>
    from.startsWith(four) && to.startsWith(four)
      ? blocked
      : `{"total":${total},"data":[${list.join(',')}]}`;
  const run = fourDays(wrap);
  for (let day = 0; day < 3; day += 1) {
    const { states, errors } = await run();
    expect(states).toEqual(['complete 12', 'complete 7', 'complete 0', 'failed 0']);
    expect(errors).toEqual([expect.stringContaining('blocked')]);
  }
});

/** Another word for each number, in letters alone. */
const wordOf = (n: number): string =>
  `q${[...n.toString(2)].map((digit) => (digit === '1' ? 'x' : 'o')).join('')}`;

it.each(
  andAtNight<[string, (n: number) => string]>(
    [['the id of a request, in letters alone', (n) => `"request_id":"${wordOf(n)}"`]],
    [['a number that looks like a code', (n) => `"hashCode":${n * 77_777}`]],
  ),
)('an answer that is named by a word of its own may be empty: %s', async (_, name) => {
  let answers = 0;
  const run = fourDays((list, total) => {
    answers += 1;
    return `{${name(answers)},"total":${total},"data":[${list.join(',')}]}`;
  });
  for (let day = 0; day < 2; day += 1)
    expect((await run()).states).toEqual(['complete 12', 'complete 7', 'complete 0', 'complete 9']);
});

it('words of one node of several, chosen by the address that is asked for, make no empty day fail', async () => {
  const run = fourDays((list, total, { length }) => {
    const node = list.length === 0 && length === 2 ? 'beta' : 'alpha';
    return `{"node":"${node}","total":${total},"data":[${list.join(',')}]}`;
  });
  for (let day = 0; day < 2; day += 1)
    expect((await run()).states).toEqual(['complete 12', 'complete 7', 'complete 0', 'complete 9']);
});

it('a state that is another one in some answers names none of them', async () => {
  const run = fourDays((list, total, { from }) => {
    const day = from.slice(0, 10);
    const tier = day === four ? 'deep' : day === one ? 'hot' : 'warm';
    const data = day === four ? '' : list.join(',');
    return `{"tier":"${tier}","total":${day === four ? 0 : total},"data":[${data}]}`;
  });
  for (let day = 0; day < 2; day += 1) {
    const { states } = await run();
    expect(states).toEqual(['complete 12', 'complete 7', 'complete 0', 'failed 0']);
  }
});
