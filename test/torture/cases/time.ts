/** Days of 23 and 25 hours, zones that disagree, and the last fraction of a day's last second. */
import type { RecordInput } from '../../../simulator/simulator.ts';
import { type Case, DAY, EXACT, failed, type Scene } from '../case.ts';
import { between, recordText, spread, timeOf } from '../records.ts';

const HOUR = 3_600_000;

/** A day on which clocks change: its first instant in UTC, and how long it is. */
const DAYS = {
  'Berlin, 25 hours': {
    zone: 'Europe/Berlin',
    day: '2025-10-26',
    utc: '2025-10-25 22:00:00',
    hours: 25,
    unclear: ['02:00:00', '02:59:59'],
  },
  'Berlin, 23 hours': {
    zone: 'Europe/Berlin',
    day: '2026-03-29',
    utc: '2026-03-28 23:00:00',
    hours: 23,
    unclear: ['02:00:00', '02:59:59'],
  },
  'New York, 25 hours': {
    zone: 'America/New_York',
    day: '2025-11-02',
    utc: '2025-11-02 04:00:00',
    hours: 25,
    unclear: ['01:00:00', '01:59:59'],
  },
  'New York, 23 hours': {
    zone: 'America/New_York',
    day: '2026-03-08',
    utc: '2026-03-08 05:00:00',
    hours: 23,
    unclear: ['02:00:00', '02:59:59'],
  },
} as const;

type ChangeDay = (typeof DAYS)[keyof typeof DAYS];

/** No boundary of a part may lie in the hour that the clocks show twice, or skip. */
const cutsOutside =
  ({ day, unclear }: ChangeDay): NonNullable<Scene['check']> =>
  async ({ query, complain }) => {
    const [parts] = await query<{ n: number }>(
      `select count(*)::integer as n from daywalk.windows where kind = 'part'`,
    );
    if ((parts?.n ?? 0) < 2) complain('the day was not split');
    const inside = await query(
      `select from daywalk.windows
        where kind = 'part' and (from_time between $1::timestamp and $2::timestamp or to_time between $1::timestamp and $2::timestamp)`,
      [`${day} ${unclear[0]}`, `${day} ${unclear[1]}`],
    );
    if (inside.length > 0)
      complain('a part begins or ends in the hour that the clocks repeat or skip');
  };

const changes = Object.entries(DAYS).flatMap(([name, change]) =>
  (['exact', 'none'] as const).map(
    (totals): Case => ({
      name: `${name}, split, totals ${totals}`,
      server: `pages 400 deep on a day of ${change.hours} hours in ${change.zone}; totals ${totals}`,
      expect: EXACT,
      from: change.day,
      options: { timeZone: change.zone },
      mostRatio: 32,
      ...(totals === 'exact' && name === 'Berlin, 25 hours' ? { fast: true } : {}),
      scene: () => ({
        sim: {
          records: between(1_500, timeOf(change.utc), change.hours * HOUR),
          timeZone: change.zone,
          totals,
          offsetCap: { limit: 400, answer: 400 },
        },
        check: cutsOutside(change),
      }),
    }),
  ),
);

/** A source that takes 02:30 for 03:30 on the day on which there is no 02:30, as Java, Postgres and Python do. */
const skipped: Case = {
  name: 'Berlin, 23 hours, a skipped time is an hour later, totals none',
  server:
    'pages 200 deep on a day of 23 hours in Europe/Berlin; 02:59:59 is 03:59:59 there; no totals',
  expect: EXACT,
  from: DAYS['Berlin, 23 hours'].day,
  options: { timeZone: 'Europe/Berlin' },
  mostRatio: 64,
  scene: () => ({
    sim: {
      records: between(1_500, timeOf(DAYS['Berlin, 23 hours'].utc), 23 * HOUR),
      timeZone: 'Europe/Berlin',
      skippedTimes: 'later',
      totals: 'none',
      offsetCap: { limit: 200, answer: 'empty' },
    },
    check: cutsOutside(DAYS['Berlin, 23 hours']),
  }),
};

/** Events around the midnight between two days, and at both outer ends. */
const atMidnights: RecordInput[] = [DAY, '2026-03-02', '2026-03-03'].flatMap((day) => {
  const midnight = timeOf(`${day} 00:00:00`);
  return [-1000, -999, -500, -1, 0, 1, 500, 999, 1000].map((offset) => {
    const time = midnight + offset;
    return { text: recordText(time, `${day}${offset}`, 3), time };
  });
});

const cuts = (['seconds', 'exact'] as const).flatMap((subSecond) =>
  (['exact', 'none'] as const).flatMap((totals) =>
    [DAY, '2026-03-02'].map(
      (to): Case => ({
        name: `${to === DAY ? 'one day' : 'two days'}, midnights compared by ${subSecond}, totals ${totals}`,
        server: `has events at 23:59:59.999 and compares ${subSecond === 'exact' ? 'to the millisecond' : 'whole seconds'}; totals ${totals}`,
        expect: EXACT,
        to,
        ...(totals === 'exact' && to === DAY && subSecond === 'exact' ? { fast: true } : {}),
        scene: () => ({
          sim: {
            records: [...spread(120), ...spread(80, '2026-03-02'), ...atMidnights],
            subSecond,
            totals,
          },
        }),
      }),
    ),
  ),
);

export const time: readonly Case[] = [
  ...changes,
  skipped,
  ...cuts,
  {
    name: 'more than a page in the last fraction of a second',
    server: 'has 260 events between 23:59:59.001 and 23:59:59.999, and compares to the millisecond',
    expect: EXACT,
    scene: () => ({
      sim: {
        records: [...spread(150), ...between(260, timeOf(`${DAY} 23:59:59`) + 1, 990)],
        subSecond: 'exact',
      },
    }),
  },
  {
    name: 'split, events between seconds, compared to the millisecond',
    server: 'pages 300 deep, and compares to the millisecond',
    expect: EXACT,
    scene: () => ({
      sim: {
        records: spread(1_700).map((record) => {
          const at = Number((record as { time: number }).time) + 500;
          return { text: recordText(at, `h${at}`, 3), time: at };
        }),
        subSecond: 'exact',
        offsetCap: { limit: 300, answer: 'empty' },
      },
    }),
  },
  {
    name: 'nothing but the hour that comes twice',
    server: 'has 900 events in the repeated hour and no other, and pages 400 deep',
    expect: failed(/nothing shows that all levels are there/),
    from: '2025-10-26',
    options: { timeZone: 'Europe/Berlin' },
    scene: () => ({
      sim: {
        records: between(900, timeOf('2025-10-26 00:00:00'), 2 * HOUR),
        timeZone: 'Europe/Berlin',
        offsetCap: { limit: 400, answer: 400 },
      },
    }),
  },
  {
    name: 'most in the hour that comes twice',
    server: 'has 900 events in the repeated hour and 200 others, and pages 400 deep',
    expect: EXACT,
    from: '2025-10-26',
    options: { timeZone: 'Europe/Berlin' },
    scene: () => ({
      sim: {
        records: [
          ...between(900, timeOf('2025-10-26 00:00:00'), 2 * HOUR),
          ...between(200, timeOf('2025-10-25 22:00:00'), 25 * HOUR, 10_000),
        ],
        timeZone: 'Europe/Berlin',
        offsetCap: { limit: 400, answer: 400 },
      },
    }),
  },
  {
    name: 'server in another zone than set',
    server: 'reads times in America/New_York, where UTC is set; pages 400 deep',
    expect: EXACT,
    scene: () => ({
      sim: {
        records: spread(1_400),
        timeZone: 'America/New_York',
        offsetCap: { limit: 400, answer: 400 },
      },
    }),
  },
  {
    name: 'server in another zone than set, on its day of 25 hours',
    server: 'reads times in America/New_York, where UTC is set; pages 400 deep; the clocks change',
    expect: EXACT,
    from: '2025-11-02',
    scene: () => ({
      sim: {
        records: between(1_500, timeOf('2025-11-02 04:00:00'), 25 * HOUR),
        timeZone: 'America/New_York',
        offsetCap: { limit: 400, answer: 400 },
      },
    }),
  },
];
