/** Health: judged by the newest day that should be proven by now, one sentence for each case. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DayInState, StreamDays } from '../../src/days/covered-days.ts';
import type { DayState } from '../../src/days/day-states.ts';
import { describeGaps } from '../../src/days/gaps.ts';
import { assessHealth, type Expectation } from '../../src/days/health.ts';
import { addDays } from '../../src/plan/days.ts';

const HOURLY: Expectation = {
  timeZone: 'UTC',
  settleMs: 3_600_000,
  schedule: '15 * * * *',
  lateAfterMs: 6 * 3_600_000,
};
/** 2026-03-10 closed at 01:00, ticked at 01:15, and is overdue from 07:15 on. */
const at = (time: string) => Date.parse(`2026-03-11T${time}Z`);
const SIGNS: Readonly<Record<string, DayState>> = {
  c: 'complete',
  e: 'empty',
  f: 'failed',
  m: 'missing',
  r: 'running',
  o: 'open',
  x: 'out',
};

/** A stream whose last sign stands for 2026-03-11. */
function stream(name: string, signs: string): StreamDays {
  const first = addDays('2026-03-11', 1 - signs.length);
  const days = [...signs].map((sign, index): DayInState => {
    const state = SIGNS[sign] ?? 'out';
    const records = state === 'complete' ? 10 : 0;
    return {
      day: addDays(first, index),
      state,
      windows: 1,
      completeWindows: 1,
      gone: 0,
      records,
      pages: 1,
      bytes: 1,
      proof: null,
      dueAt: null,
      lastError: state === 'failed' ? 'why' : null,
    };
  });
  return {
    stream: name,
    streamId: 1,
    since: first,
    until: null,
    lastClosed: '2026-03-10',
    today: '2026-03-11',
    days,
  };
}
const assess = (now: string, ...streams: StreamDays[]) =>
  assessHealth(streams, [], at(now), HOURLY);

it('a first day in the future is no all is well', () => {
  const future = { ...stream('events', 'xxxxx'), since: '2062-03-10' };
  const { sentence } = assess('07:14:00', future);
  expect(sentence).toBe(
    'events: begins on 2062-03-10 (since), in the future; until then no new day is planned.',
  );
});

it('no day is late before a first day in the future, whatever was exported before', () => {
  const future = { ...stream('events', 'ccxxx'), since: '2062-03-10' };
  expect(assess('12:00:00', future).level).toBe('good');
  const failed = { ...stream('events', 'cfxxx'), since: '2062-03-10' };
  expect(assess('12:00:00', failed)).toMatchObject({ level: 'gaps', streams: [{ fresh: true }] });
});

it('a stream that has ended is never late, and says nothing of the newest days', () => {
  const ended = { ...stream('audit', 'ccxxx'), until: '2026-03-07' };
  const { level, sentence } = assess('12:00:00', stream('events', 'ccccc'), ended);
  expect(level).toBe('good');
  expect(sentence).toMatch(/^All is well: .* up to 11 March 2026\.$/);
});

it('what a source lost in numbers is no all is well', () => {
  const loss = { day: '2026-03-08', lost: 20, records: 60 };
  const gone = { stream: 'events', gone: 20, lost: 20, days: 1, failures: [loss] };
  const standing = { ...gone, retiredDays: 0, newestRetired: null, identified: false };
  const health = assessHealth([stream('events', 'ccccc')], [standing], at('07:14:00'), HOURLY);
  expect(health).toMatchObject({
    level: 'gaps',
    sentence:
      'A source does not show some records any more (they are kept here); the newest days are complete.',
    problems: [],
    lost: [
      {
        text: 'events: the source does not show 20 of 60 records of 2026-03-08 any more; they are kept here. Find out who deleted them',
        command: 'daywalk accept --stream events',
      },
    ],
  });
});

describe('a day that is not complete', () => {
  it('is in time until the first tick after its close and the allowance have passed', () => {
    expect(assess('07:14:00', stream('events', 'cccmo'))).toMatchObject({
      level: 'good',
      expected: '2026-03-09',
      problems: [],
    });
    expect(assess('07:15:00', stream('events', 'cccmo'))).toMatchObject({
      level: 'late',
      expected: '2026-03-10',
    });
    expect(assess('07:15:00', stream('events', 'cccmo')).sentence).toBe(
      'events is late: 10 March 2026 should be complete by now; 1 day is overdue.',
    );
  });
  it('is told from a day that is walked: catching up', () => {
    expect(assess('12:00:00', stream('events', 'ccrro')).sentence).toMatch(
      /^events is catching up: /,
    );
  });
  it('behind newer complete ones is a gap, not lateness', () => {
    const health = assess('12:00:00', stream('events', 'cfmco'), stream('smart-event', 'cccco'));
    expect(health.level).toBe('gaps');
    expect(health.sentence).toBe(
      '1 day failed and 1 day is overdue; the newest days are complete.',
    );
    expect(health.problems.map(({ text, command }) => [text, command])).toEqual([
      [
        'events: 2026-03-08 failed; later runs try it again: why',
        'daywalk backfill --from 2026-03-08 --to 2026-03-08 --stream events',
      ],
      [
        'events: 2026-03-09 not walked yet',
        'daywalk backfill --from 2026-03-09 --to 2026-03-09 --stream events',
      ],
    ]);
  });
  it('that failed is a problem at once', () => {
    expect(assess('02:00:00', stream('events', 'cccfo')).problems).toHaveLength(1);
  });
});

it('all is well, and up to which day', () => {
  const health = assess('12:00:00', stream('events', 'cceco'), stream('smart-event', 'xxcco'));
  expect(health.sentence).toBe(
    'All is well: every day that should be here is complete, up to 10 March 2026.',
  );
  expect(health.streams[0]).toEqual({
    stream: 'events',
    fresh: true,
    lastComplete: '2026-03-10',
    lagMs: 12 * 3_600_000,
    complete: 4,
    closed: 4,
    failed: 0,
    overdue: 0,
  });
});

it('a day that was proven, and is not closed any more as it settles for longer, counts as neither', () => {
  const [judged] = assess('12:00:00', stream('events', 'ccmcc')).streams;
  expect(judged).toMatchObject({ lastComplete: '2026-03-11', complete: 3, closed: 4 });
});

it('a stream that wants no day yet is fresh; one that was never planned is new', () => {
  expect(assess('12:00:00', stream('events', 'xxxxo')).level).toBe('good');
  expect(assess('12:00:00', { ...stream('events', 'mmmmo'), streamId: null }).level).toBe('new');
});

it('a weekly schedule is waited for', () => {
  // 2026-03-11 is a Wednesday; the last Monday tick was on the 9th, at 03:00, when the 8th had closed.
  const weekly = { ...HOURLY, schedule: '0 3 * * 1' };
  expect(assessHealth([stream('events', 'ccmmo')], [], at('12:00:00'), weekly)).toMatchObject({
    level: 'good',
    expected: '2026-03-08',
  });
});

it.each([
  ['0 3 1 1 *', '2025-12-31'],
  ['0 3 29 2 *', '2024-02-28'],
  ['0 3 29 2 1', '2016-02-28'],
])('a schedule that ticks rarely (%s) is judged at once', (schedule, day) => {
  const before = process.cpuUsage();
  const rare = { ...HOURLY, schedule };
  expect(assessHealth([stream('events', 'cc')], [], at('12:00:00'), rare).expected).toBe(day);
  // A day at a time it takes up to twenty seconds.
  expect(process.cpuUsage(before).user).toBeLessThan(500_000);
});

it('never calls a stream fresh whose expected day is not proven, nor late whose is', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('c', 'e', 'f', 'm', 'r'), minLength: 1, maxLength: 30 }),
      (signs) => {
        const health = assess('12:00:00', stream('events', `${signs}o`));
        const proven = /[ce]$/.test(signs);
        expect(health.level === 'late').toBe(!proven);
        expect(health.problems.length > 0).toBe(/[fmr]/.test(signs));
        expect(health.level === 'good').toBe(/^[ce]+$/.test(signs));
      },
    ),
  );
});

it('of a day that only a person can settle it is not said that later runs mend it', () => {
  const gap = { stream: 'events', day: '2026-03-08', state: 'failed', dueAt: null } as const;
  const lastError = 'it shows nothing (If they are gone for good: daywalk accept)';
  expect(describeGaps([{ ...gap, lastError }])).toEqual([
    `events: 2026-03-08 failed: ${lastError}`,
    '  only if the source is right: daywalk accept --stream events',
  ]);
  expect(describeGaps([{ ...gap, lastError: 'HTTP 500' }])).toEqual([
    'events: 2026-03-08 failed; later runs try it again: HTTP 500',
    '  daywalk backfill --from 2026-03-08 --to 2026-03-08 --stream events',
  ]);
});
