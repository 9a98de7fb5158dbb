/** A backfill brings every record exactly once, and a second one asks for nothing. */
import { expect, test } from 'vitest';
import type { LoggedRequest } from '../../simulator/simulator.ts';
import { dayAgo } from '../support/days.ts';
import { eachDay, expectExact } from '../support/multiset.ts';
import { askedAgain, pagesAsked, withoutCuts } from '../support/requests.ts';
import { type Scene, setScene } from '../support/scene.ts';

const DAYS = { from: '2026-02-26', to: '2026-03-02' };
const RANGE = ['--from', DAYS.from, '--to', DAYS.to];

/** How many windows of each kind are complete. */
async function complete({ database }: Scene): Promise<Record<string, number>> {
  const rows = await database.query<{ kind: string; windows: number }>(
    `select kind, count(*)::int as windows from daywalk.windows where state = 'complete' group by kind`,
  );
  return Object.fromEntries(rows.map(({ kind, windows }) => [kind, windows]));
}

/** How many records `status` tells. */
async function told(scene: Scene): Promise<number> {
  const { streams } = JSON.parse((await scene.succeed(['status', '--json'])).stdout);
  return streams.reduce((sum: number, { records }: { records: number }) => sum + records, 0);
}

/** The days that were asked for, in the order in which they were begun; their second halves left out. */
const daysAsked = (requests: readonly LoggedRequest[]): string[] => {
  // A half of a day begins with it, too: to learn how far to reach around a cut, days are halved.
  const whole = requests.filter(({ query }) => query.toDate?.endsWith(' 23:59:59'));
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

test('some days of both resources, exactly; then nothing is due (I3, I4, I5, I6, I7)', async () => {
  const scene = await setScene();
  const first = await scene.succeed(['backfill', ...RANGE]);
  const records = await expectExact(scene, DAYS);
  expect(records).toBeGreaterThan(800);
  expect(first.stdout).toMatch(/^\d+ days complete: [\d,]+ records received in .* pages/);
  expect(await complete(scene)).toEqual({ day: 10, cut: 12 });
  expect(await told(scene)).toBe(records);
  expect(askedAgain(scene.api.requests)).toEqual(new Map());

  const before = scene.api.counts.requests;
  const second = await scene.succeed(['backfill', ...RANGE]);
  expect(scene.api.counts.requests).toBe(before);
  expect(second.stdout).toBe('Nothing was due.\n');
  await expectExact(scene, DAYS);
});

test('numbers, escapes and keys reach jsonb as they were sent (I5)', async () => {
  const odd = [
    '{"timestamp":"2026-03-01T08:00:00Z","big":9007199254740993,"exact":1.10,"tiny":1E-7}',
    '{"timestamp":"2026-03-01T08:00:00Z","big":9007199254740992,"text":"\\u00e9\\ud83d\\ude00\\t\\"\\\\"}',
    '{"timestamp":"2026-03-01T08:00:01Z","18446744073709551615":18446744073709551615,"__proto__":{"a":1}}',
    '{"timestamp":"2026-03-01T08:00:01Z","deep":[[[[{"":null}]]]],"long":0.1234567890123456789012345678901234567890}',
  ];
  const scene = await setScene({ records: odd });
  const day = { from: '2026-03-01', to: '2026-03-01' };
  await scene.succeed(['backfill', '--from', day.from, '--to', day.to]);
  expect(await expectExact(scene, day)).toBe(odd.length);
  const [row] = await scene.database.query(
    `select count(*)::int as found from daywalk.events
      where record::text like '%9007199254740993%' or record::text like '%1.10%'
         or record::text like '%18446744073709551615": 18446744073709551615%'`,
  );
  expect(row).toEqual({ found: 2 });
});

test('days without any record are complete, on the proof of a second look', async () => {
  const scene = await setScene({ records: [] });
  await scene.succeed(['backfill', ...RANGE]);
  expect(await expectExact(scene, DAYS)).toBe(0);
});

test('--stream, --newest-first and --only choose what is walked', async () => {
  const scene = await setScene();
  const one = ['--concurrency', '1'];
  await scene.succeed(['backfill', ...RANGE, '--stream', 'events', '--newest-first', ...one]);
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
  await scene.run(['backfill', ...RANGE, '--stream', 'events', '--only', 'missing']);
  expect(asked()).toBe(before);
  let beforeDays = days().length;
  await scene.succeed(['backfill', ...RANGE, '--stream', 'events', '--only', 'failed']);
  expect(daysAsked(days().slice(beforeDays))).toEqual(['events 2026-02-27 00:00:00']);
  await expectExact(scene, DAYS, ['events']);

  beforeDays = days().length;
  await scene.succeed(['backfill', ...RANGE, '--stream', 'events', '--only', 'all', ...one]);
  expectBegun(daysAsked(days().slice(beforeDays)), oldestFirst);
  await expectExact(scene, DAYS, ['events']);
});

test('--dry-run tells every window and its state, and changes none', async () => {
  const scene = await setScene();
  await scene.succeed(['backfill', '--from', '2026-02-26', '--to', '2026-02-27']);
  const windows = () => scene.database.query('select * from daywalk.windows order by window_id');
  const before = await windows();
  const asked = scene.api.counts.requests;
  const shown = await scene.succeed(['backfill', ...RANGE, '--dry-run']);
  const lines = shown.stdout.trimEnd().split('\n');
  expect(lines).toHaveLength(11);
  expect(lines.filter((line) => /complete +skip/.test(line))).toHaveLength(4);
  expect(lines.filter((line) => /missing +walk/.test(line))).toHaveLength(6);
  expect(lines.at(-1)).toBe('6 of 10 windows would be walked; none was.');
  const json = await scene.succeed(['backfill', ...RANGE, '--dry-run', '--only', 'all', '--json']);
  const steps = JSON.parse(json.stdout) as { action: string }[];
  expect(steps.map(({ action }) => action).sort()).toEqual([
    ...Array(4).fill('rewalk'),
    ...Array(6).fill('walk'),
  ]);
  expect(await windows()).toEqual(before);
  expect(scene.api.counts.requests).toBe(asked);
});

test.each([0, -1])(
  'a day that is not over (%i days ago) is refused, with the newest that is closed (I8)',
  async (days) => {
    const scene = await setScene();
    const [open, closed] = [dayAgo(days), dayAgo(1)];
    for (const more of [[], ['--dry-run'], ['--to', open]]) {
      const ended = await scene.run(['backfill', '--from', open, ...more], {
        DAYWALK_SETTLE: '0s',
      });
      expect(ended).toMatchObject({ code: 2, stdout: '' });
      expect(ended.stderr).toMatch(
        new RegExp(`flag --from: ${open} is .*; the newest closed day is ${closed}`),
      );
    }
    expect(scene.api.counts.requests).toBe(0);
  },
);

test('a run reports in JSON for programs', async () => {
  const scene = await setScene();
  const ended = await scene.succeed(['backfill', ...RANGE, '--json']);
  expect(JSON.parse(ended.stdout)).toMatchObject({
    windowsDue: 10,
    windowsComplete: 10,
    windowsFailed: 0,
    gaps: [],
    failures: [],
    stopped: [],
    notInStep: [],
  });
  expect(await complete(scene)).toEqual({ day: 10, cut: 12 });
});
