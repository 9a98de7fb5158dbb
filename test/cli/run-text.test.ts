/** The sentence at the end of a run says what was done, also where nothing had to be stored. */
import { expect, it } from 'vitest';
import { RunProgress } from '../../src/cli/terminal/run-progress.ts';
import { describeRun, describeUnfinished } from '../../src/cli/terminal/run-text.ts';
import { InterruptedError, RefusedError, SettingsError } from '../../src/errors.ts';
import type { RunReport } from '../../src/walk/run.ts';

const NOTHING: RunReport = {
  windowsDue: 0,
  windowsComplete: 0,
  windowsFailed: 0,
  windowsSplit: 0,
  windowsUnchanged: 0,
  pages: 0,
  records: 0,
  bytes: 0,
  gaps: [],
  failures: [],
  stopped: [],
  notInStep: [],
  lost: [],
};

const gapOf = (day: string) => ({
  stream: 'events',
  day,
  state: 'failed' as const,
  dueAt: null,
  lastError: null,
});

it('prints a reason once, however many windows failed for it', () => {
  const failures = ['01', '02', '03', '07'].map((day) => ({
    stream: 'events',
    from: `2026-03-${day} 00:00:00`,
    to: `2026-03-${day} 23:59:59`,
    reason: `page ${day} is a login`,
  }));
  const other = { ...failures[0], stream: 'smart-event' } as (typeof failures)[number];
  expect(describeRun({ ...NOTHING, failures: [...failures, other] }, 2_000).slice(1)).toEqual([
    'Failed: events 4 windows of 2026-03-01 to 2026-03-03, 2026-03-07: page 01 is a login',
    'Failed: smart-event 2026-03-01 00:00:00 to 2026-03-01 23:59:59: page 01 is a login',
  ]);
  const midnights = failures.map((failed) => ({ ...failed, to: '2026-03-08 00:00:00' }));
  expect(describeRun({ ...NOTHING, failures: midnights }, 2_000)[1]).toContain(
    'events 4 midnights after 2026-03-01 to 2026-03-03, 2026-03-07:',
  );
});

it.each<[Partial<RunReport>, RegExp]>([
  [{}, /^Nothing was due\.$/],
  [{ windowsDue: 1, windowsUnchanged: 1 }, /^1 day looked at again: .* stored, in 2(\.0)? s\.$/],
  [{ windowsDue: 28, windowsUnchanged: 28 }, /^28 days looked at again/],
  [{ windowsDue: 3, windowsComplete: 1, windowsUnchanged: 2 }, /^1 day complete: 0 records/],
  [{ windowsComplete: 4, windowsSplit: 1 }, /^4 windows complete/],
  [
    { windowsComplete: 6, records: 9, gaps: [gapOf('2026-03-01')] },
    /^6 windows complete: 9 records received in 0 pages, 0 B, in 2(\.0)? s\.$/,
  ],
])('%j', (change, sentence) => {
  expect(describeRun({ ...NOTHING, ...change }, 2_000)[0]).toMatch(sentence);
});

it('one record on one page is no plural', () => {
  const [sentence] = describeRun({ ...NOTHING, windowsComplete: 1, records: 1, pages: 1 }, 2_000);
  expect(sentence).toMatch(/: 1 record received in 1 page, /);
});

it('a run that stored nothing does not say that it is not fetched again', () => {
  const progress = new RunProgress(0);
  progress.add({ kind: 'planned', windows: 14 }, 0);
  const stopped = new InterruptedError('SIGINT');
  expect(describeUnfinished(progress.state(1), stopped, false)[0]).toBe(
    'Nothing was stored in this run.',
  );
});

it.each([
  [new InterruptedError('SIGINT'), false, 'To go on: the same command.'],
  [new SettingsError('no'), false, 'To go on, once that is mended: the same command.'],
  [new RefusedError(401, 'no'), false, 'To go on, once that is mended: the same command.'],
  [
    new InterruptedError('SIGINT'),
    true,
    'To go on: the same command (without --only all, which would walk those again, too).',
  ],
])(
  'a run that ended early, %s, says how to go on by what ended it and was asked for',
  (error, all, says) => {
    expect(describeUnfinished(new RunProgress(0).state(1), error, all)[1]).toBe(says);
  },
);
