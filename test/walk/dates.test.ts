/** Sources that keep their events by the dates of another clock than the one that they are asked by, and open those dates only that a request names. */
import { expect, it } from 'vitest';
import type { TestDatabase } from '../support/database.ts';
import { letTimePass } from '../support/pass-time.ts';
import { freshStore } from '../support/store.ts';
import { closedDays, newStream, readResults, runOnce } from './exporting.ts';
import { ImaginedSource } from './imagined-source.ts';

const HOUR = 3_600;
const DAYS = closedDays(3);
const [FIRST = ''] = DAYS;

let server: TestDatabase;

freshStore((store) => {
  ({ server } = store);
});

const secondsOf = (time: string) => Date.parse(`${time.replace(' ', 'T')}Z`) / 1_000;
const dateAt = (second: number) => new Date(second * 1_000).toISOString().slice(0, 10);

/** Events each so many seconds on all days and around them; the source keeps them by the dates of a clock so many hours ahead. */
async function exportOf(hoursAhead: number, every: number) {
  const begin = secondsOf(`${FIRST} 00:00:00`);
  const end = begin + DAYS.length * 24 * HOUR;
  const times: number[] = [];
  for (let at = begin - 24 * HOUR + 421; at < end + 24 * HOUR; at += every) times.push(at);
  const source = new ImaginedSource(
    { [FIRST]: [] },
    {
      totals: 'exact',
      arrange: (_, __, { from, to }) =>
        times
          .filter((at) => at >= secondsOf(from) && at <= secondsOf(to))
          .filter((at) => {
            const kept = dateAt(at + hoursAhead * HOUR);
            return kept >= from.slice(0, 10) && kept <= to.slice(0, 10);
          })
          .map((at) => `{"id": ${at}}`),
    },
  );
  const stream = newStream();
  const exporting = { server, source, stream, since: FIRST, pageLength: 100, recheckDays: 7 };
  for (let run = 0; run < 2; run += 1) {
    await runOnce(exporting);
    await letTimePass((sql, values) => server.query(sql, values), '25 hours');
  }
  const results = await readResults(server, stream);
  const shown = await server.query<{ id: number }>(
    `select (record ->> 'id')::integer as id from daywalk.events order by 1`,
  );
  const [learned] = await server.query<{ value: string }>(
    `select value from daywalk.learned where fact = 'hidden_by_date'`,
  );
  return {
    states: DAYS.map((day) => results.get(day)?.state),
    missing: times.filter((at) => at >= begin && at < end && !shown.some(({ id }) => id === at)),
    doubled: shown.length - new Set(shown.map(({ id }) => id)).size,
    learned: learned?.value,
  };
}

it.each([
  ['New York', 5, 'before'],
  ['Kolkata', -5.5, 'after'],
  ['Berlin', -1, 'after'],
  ['its own', 0, 'nothing'],
])('those of UTC hide none of a day of %s', async (_, hoursAhead, learned) => {
  expect(await exportOf(hoursAhead, 1_800)).toEqual({
    states: DAYS.map(() => 'complete'),
    missing: [],
    doubled: 0,
    learned,
  });
});

it('those of UTC hide none of a day of a few events', async () => {
  const { missing, doubled } = await exportOf(5, 4 * HOUR + 60);
  expect({ missing, doubled }).toEqual({ missing: [], doubled: 0 });
});
