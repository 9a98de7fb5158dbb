/** A backfill brings every record exactly once, and a second one asks for nothing. */
import { expect, test } from 'vitest';
import type { LoggedRequest } from '../../simulator/simulator.ts';
import { dayAgo } from '../support/days.ts';
import { type Days, eachDay, expectExact } from '../support/multiset.ts';
import { atNight } from '../support/night.ts';
import { askedAgain, pagesAsked, withoutCuts } from '../support/requests.ts';
import { type Scene, setScene } from '../support/scene.ts';

const DAYS = { from: '2026-02-26', to: '2026-03-01' };
const range = ({ from, to }: Days) => ['--from', from, '--to', to];
const RANGE = range(DAYS);
const ODD = [
  '{"timestamp":"2026-03-01T08:00:00Z","big":9007199254740993,"exact":1.10,"tiny":1E-7}',
  '{"timestamp":"2026-03-01T08:00:00Z","big":9007199254740992,"text":"\\u00e9\\ud83d\\ude00\\t\\"\\\\"}',
  '{"timestamp":"2026-03-01T08:00:01Z","18446744073709551615":18446744073709551615,"__proto__":{"a":1}}',
  '{"timestamp":"2026-03-01T08:00:01Z","deep":[[[[{"":null}]]]],"long":0.1234567890123456789012345678901234567890}',
];

/** How many windows of each kind are complete. */
async function complete({ database }: Scene): Promise<Record<string, number>> {
  const rows = await database.query<{ kind: string; windows: number }>(
    `select kind, count(*)::int as windows from daywalk.windows where state = 'complete' group by kind`,
  );
  return Object.fromEntries(rows.map(({ kind, windows }) => [kind, windows]));
}

/** How many records `status` tells. */
async function told(scene: Scene): Promise<number> {
  const { streams } = JSON.parse((await scene.succeedHere(['status', '--json'])).stdout);
  return streams.reduce((sum: number, { records }: { records: number }) => sum + records, 0);
}

/** By as many records an old day is held against the one behind it. */
const HALF_A_PAGE = '500';

/** The days that were asked for, in the order in which they were begun; their second halves left out. */
const daysAsked = (requests: readonly LoggedRequest[]): string[] => {
  // A half of a day begins with it, too: to learn how far to reach around a cut, days are halved.
  const whole = requests.filter(
    ({ query }) => query.toDate?.endsWith(' 23:59:59') && query.length !== HALF_A_PAGE,
  );
  const windows = pagesAsked(whole).map(({ window }) => window);
  return [...new Set(windows.filter((window) => window.endsWith(' 00:00:00')))];
};

/**
 * Every window, in this order but for one: with one request at a time two windows are walked at a time, and the second
 * may be the first to ask.
 */
function expectBegun(begun: readonly string[], order: readonly string[]): void {
  expect([...begun].sort()).toEqual([...order].sort());
  for (const [at, window] of begun.entries()) {
    const before = new Set(begun.slice(0, at));
    const passedOver = order.slice(0, order.indexOf(window)).filter((other) => !before.has(other));
    expect(passedOver.length, `begun before ${window}`).toBeLessThanOrEqual(1);
  }
}

test('some days of both resources, exactly; a second backfill asks for nothing, a longer one for what is new (I3, I4, I5, I6, I7)', async () => {
  const scene = await setScene({ eventsPerDay: 60 });
  // Numbers, escapes and keys that a careless reader changes, and a day without any record.
  scene.api.insert(ODD);
  const empty = '2026-02-27';
  for (const resource of ['events', 'smart-event'] as const)
    scene.api.remove(() => true, {
      resource,
      from: `${empty} 00:00:00`,
      to: `${empty} 23:59:59`,
    });
  const some = { from: '2026-02-27', to: DAYS.to };
  const first = await scene.succeed(['backfill', ...range(some)]);
  const records = await expectExact(scene, some);
  expect(records).toBeGreaterThan(90);
  expect(first.stdout).toMatch(/^\d+ days complete: [\d,]+ records received in .* pages/);
  expect(await complete(scene)).toEqual({ day: 6, cut: 8 });
  expect(await told(scene)).toBe(records);
  // Only that a day is empty is asked again.
  const again = askedAgain(
    scene.api.requests.filter(({ query }) => !query.fromDate?.startsWith(empty)),
  );
  expect(again).toEqual(new Map());
  const [odd] = await scene.database.query(
    `select count(*)::int as found from daywalk.events
      where not record ? 'id'
        and (record::text like '%9007199254740993%' or record::text like '%1.10%'
             or record::text like '%18446744073709551615": 18446744073709551615%')`,
  );
  expect(odd).toEqual({ found: 2 });
  expect(
    await scene.database.query(
      `select proof ->> 'kind' as kind from daywalk.windows where kind = 'day' and day = $1 order by stream_id`,
      [empty],
    ),
    'on the proof of a second look',
  ).toEqual([{ kind: 'empty' }, { kind: 'empty' }]);

  const asked = scene.api.counts.requests;
  const second = await scene.succeedHere(['backfill', ...range(some)]);
  expect(second.stdout).toBe('Nothing was due.\n');
  await expectExact(scene, some);

  // What a dry run tells of the days that are there and those that are not, as text and for programs.
  const windows = () => scene.database.query('select * from daywalk.windows order by window_id');
  const before = await windows();
  const shown = await scene.succeedHere(['backfill', ...RANGE, '--dry-run']);
  const lines = shown.stdout.trimEnd().split('\n');
  expect(lines).toHaveLength(9);
  expect(lines.filter((line) => /complete +skip/.test(line))).toHaveLength(6);
  expect(lines.filter((line) => /missing +walk/.test(line))).toHaveLength(2);
  expect(lines.at(-1)).toBe('2 of 8 windows would be walked; none was.');
  const json = await scene.succeedHere([
    'backfill',
    ...RANGE,
    '--dry-run',
    '--only',
    'all',
    '--json',
  ]);
  const steps = JSON.parse(json.stdout) as { action: string }[];
  expect(steps.map(({ action }) => action).sort()).toEqual([
    ...Array(6).fill('rewalk'),
    ...Array(2).fill('walk'),
  ]);
  expect(await windows()).toEqual(before);
  expect(scene.api.counts.requests).toBe(asked);

  const longer = await scene.succeedHere(['backfill', ...RANGE, '--json']);
  expect(JSON.parse(longer.stdout)).toMatchObject({
    windowsDue: 2,
    windowsComplete: 2,
    windowsFailed: 0,
    gaps: [],
    failures: [],
    stopped: [],
    notInStep: [],
  });
  expect(await complete(scene)).toEqual({ day: 8, cut: 10 });
  await expectExact(scene, DAYS);
});

atNight('--stream, --newest-first and --only choose what is walked', async () => {
  const scene = await setScene({ eventsPerDay: 45 });
  const one = ['--concurrency', '1'];
  await scene.succeedHere(['backfill', ...RANGE, '--stream', 'events', '--newest-first', ...one]);
  const days = () => withoutCuts(scene.api.requests);
  const order = daysAsked(days());
  const oldestFirst = eachDay(DAYS).map((day) => `events ${day} 00:00:00`);
  expectBegun(order, [...oldestFirst].reverse());
  await expectExact(scene, DAYS, ['events']);

  await scene.database.query(
    `update daywalk.windows set state = 'failed', due_at = 'infinity', last_error = 'made up'
      where day = '2026-02-27'`,
  );
  const asked = () => scene.api.counts.requests;
  const before = asked();
  await scene.here(['backfill', ...RANGE, '--stream', 'events', '--only', 'missing']);
  expect(asked()).toBe(before);
  let beforeDays = days().length;
  await scene.succeedHere(['backfill', ...RANGE, '--stream', 'events', '--only', 'failed']);
  expect(daysAsked(days().slice(beforeDays))).toEqual(['events 2026-02-27 00:00:00']);
  await expectExact(scene, DAYS, ['events']);

  beforeDays = days().length;
  await scene.succeedHere(['backfill', ...RANGE, '--stream', 'events', '--only', 'all', ...one]);
  expectBegun(daysAsked(days().slice(beforeDays)), oldestFirst);
  await expectExact(scene, DAYS, ['events']);
});

test('a day that is not over is refused, with the newest that is closed (I8)', async () => {
  const scene = await setScene();
  const closed = dayAgo(1);
  for (const [days, more] of [
    [0, []],
    [0, ['--dry-run']],
    [-1, ['--to', dayAgo(-1)]],
  ] as const) {
    const open = dayAgo(days);
    const ended = await scene.here(['backfill', '--from', open, ...more], { DAYWALK_SETTLE: '0s' });
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toMatch(
      new RegExp(`flag --from: ${open} is .*; the newest closed day is ${closed}`),
    );
  }
  expect(scene.api.counts.requests).toBe(0);
});
