/** Events that last: every window that one of them overlaps shows it. */
import { expect, it } from 'vitest';
import type { TestDatabase } from '../support/database.ts';
import { andAtNight } from '../support/night.ts';
import { letTimePass } from '../support/pass-time.ts';
import { freshStore } from '../support/store.ts';
import { closedDays, type Exporting, newStream, readResults, runOnce, teach } from './exporting.ts';
import { ImaginedSource, secondsOf } from './imagined-source.ts';

let server: TestDatabase;
freshStore((store) => {
  ({ server } = store);
});

const DAYS = closedDays(4);
const DAY = 86_400;
const FIRST = secondsOf(`${DAYS[0]} 00:00:00`);

/** From the second `first` to the second `last` since the first day began. */
interface Lasting {
  readonly id: number;
  readonly first: number;
  readonly last: number;
}

/** So many events of a moment on each day, from `begin` on; the last of them at `end`. */
const moments = (count: number, begin: number, end: number): Lasting[] =>
  DAYS.flatMap((_, day) =>
    Array.from({ length: count }, (__, index) => {
      const at = day * DAY + (index === count - 1 ? end : begin + index * 5_009);
      return { id: 1_000 * (day + 1) + index, first: at, last: at };
    }),
  );

/** Exports all days of a source of these events three times, a day apart; how the days ended, and the events that are shown, each as often as it is. */
async function exportOf(events: readonly Lasting[], reach: number | null = null) {
  const source = new ImaginedSource(Object.fromEntries(DAYS.map((day) => [day, []])), {
    arrange: (_, __, { from, to }) =>
      events
        .filter(
          ({ first, last }) => FIRST + first <= secondsOf(to) && FIRST + last >= secondsOf(from),
        )
        .map(({ id }) => `{"id": ${id}}`),
  });
  const exporting: Exporting = {
    ...{
      server,
      source,
      stream: newStream(),
      since: DAYS[0] ?? '',
      pageLength: 30,
      recheckDays: 7,
    },
  };
  if (reach !== null) await teach(exporting, { reach });
  for (let run = 0; run < 3; run += 1) {
    await runOnce(exporting);
    await letTimePass(server, '25 hours');
  }
  const states = [...(await readResults(server, exporting.stream)).values()].map(
    ({ state }) => state,
  );
  const shown = await server.query<{ id: number }>(
    `select (record ->> 'id')::integer as id from daywalk.events order by 1`,
  );
  return { states, shown: shown.map(({ id }) => id) };
}

const COMPLETE = DAYS.map(() => 'complete');
const idsOf = (events: readonly Lasting[]) => events.map(({ id }) => id).sort((a, b) => a - b);

it.each(
  andAtNight(
    [['events at the end of a day', moments(8, 5_000, DAY - 0.3)]],
    [['days of many events', moments(15, 3_000, 80_000)]],
  ),
)('one that lasts for more than a day hides no other: %s', async (_, events) => {
  const all = [...events, { id: 77, first: 1.8 * DAY, last: 3.1 * DAY }];
  const { states, shown } = await exportOf(all);
  expect(states).toEqual(COMPLETE);
  expect(shown).toEqual(idsOf(all));
});

it('one that lasts for days is shown once', async () => {
  const all = [...moments(7, 5_000, 70_000), { id: 77, first: 0.8 * DAY, last: 3.1 * DAY }];
  const { states, shown } = await exportOf(all, 1);
  expect(states).toEqual(COMPLETE);
  expect(shown).toEqual(idsOf(all));
});

it('one that lasts for most of each day is not all that the day has', async () => {
  const long = DAYS.map((_, day) => ({
    id: 70 + day,
    first: day * DAY + 10,
    last: (day + 1) * DAY - 10,
  }));
  const all = [...moments(8, 5_000, DAY - 0.3), ...long];
  const { states, shown } = await exportOf(all);
  expect(states).toEqual(COMPLETE);
  expect(shown).toEqual(idsOf(all));
});

it('days that show nothing but one that lasts from their second minute to their last hour ignore no time of day', async () => {
  const long = DAYS.map((_, day) => ({
    id: 70 + day,
    first: day * DAY + 90,
    last: day * DAY + 84_600,
  }));
  const end = 4 * DAY - 0.3;
  const all = [...long, { id: 99, first: end, last: end }];
  const { states, shown } = await exportOf(all);
  expect(states).toEqual(COMPLETE);
  expect(shown).toEqual(idsOf(all));
});

it('days that show nothing but what lasts for longer ignore no time of day', async () => {
  const long = [71, 72, 73].map((id) => ({ id, first: (id - 72.3) * DAY, last: 4.2 * DAY }));
  const all = [
    ...long,
    ...[0.51, 2.7].map((day, id) => ({ id, first: day * DAY, last: day * DAY })),
  ];
  const { states, shown } = await exportOf(all);
  expect(states).toEqual(COMPLETE);
  expect(shown).toEqual(idsOf(all));
});

it('days that show incidents that are open, as do all days to come, are whole beside what each of them has alone', async () => {
  const open = [71, 72, 73, 74].map((id) => ({ id, first: id - 80, last: Number.MAX_VALUE }));
  const all = [...moments(3, 5_000, 70_000), ...open];
  const { states, shown } = await exportOf(all);
  expect(states).toEqual(COMPLETE);
  expect(shown).toEqual(idsOf(all));
});
