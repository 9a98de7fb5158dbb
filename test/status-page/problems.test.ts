/** Trouble on the page: the same failure of many days stands there once, in few words, with one command. */
import { expect, it } from 'vitest';
import { gapSpansOf } from '../../src/days/gaps.ts';
import { addDays } from '../../src/plan/days.ts';
import { groupProblems, problemsPart } from '../../src/status-page/pages/what-is-wrong.ts';

const failed = (stream: string, ago: number, lastError: string) => ({
  stream,
  day: addDays('2026-11-21', -ago),
  state: 'failed' as const,
  dueAt: null,
  lastError,
});
const problemsOf = (gaps: ReturnType<typeof failed>[]) =>
  gapSpansOf(gaps).map((span) => ({ ...span, text: '', command: 'daywalk …' }));
/** Forty days of one failure, whose words differ in numbers only; in the middle another one. */
const GAPS = Array.from({ length: 40 }, (_, index) => 39 - index).map((ago) =>
  ago === 20
    ? failed('events', ago, 'the list moved twice')
    : failed(
        'events',
        ago,
        `https://soc.example/api/events (start ${ago}, length 1000): answered 500 with "Internal error ${ago}: the shard of this index is not there, ask the one who runs it"`,
      ),
);

it('groups days by their failure, the largest group first', () => {
  expect(groupProblems(problemsOf(GAPS))).toMatchObject([
    { stream: 'events', days: 39, from: '2026-10-13', to: '2026-11-21' },
    { stream: 'events', days: 1, from: '2026-11-01', to: '2026-11-01' },
  ]);
});

it('has a headline of ten words, what was said folded, and a command for all of its days', () => {
  const text = problemsPart(problemsOf(GAPS)).text;
  const [, headline = ''] = /<a [^>]*>([^<]*)</.exec(text) ?? [];
  expect(headline).toBe(
    'events, 39 days, 2026-10-13 to 2026-11-21: failed: answered 500 with &#34;Internal error 0: the shard of this …',
  );
  expect(text).toMatch(
    /<details><summary>what was said<\/summary><p>https:\/\/soc\.example.*runs it/,
  );
  expect(text).toContain('daywalk backfill --from 2026-10-13 --to 2026-11-21 --stream events');
  expect(text.match(/class="command"/g)).toHaveLength(2);
});

it('what only a person can settle stands open, with the command of the error', () => {
  const error = `no new window becomes complete: ${'day and '.repeat(20)}so on (Was the key narrowed? If it really lost its events: daywalk accept)`;
  const text = problemsPart(problemsOf([failed('events', 1, error)])).text;
  expect(text).toContain(
    '<p>Was the key narrowed? If it really lost its events: daywalk accept</p>',
  );
  expect(text).toContain('<code>daywalk accept --stream events</code>');
  expect(text).not.toContain('backfill');
});

it('folds what is more than two', () => {
  const streams = ['a', 'b', 'c', 'd'].map((name) => failed(name, 1, 'no'));
  const text = problemsPart(problemsOf(streams)).text;
  expect(text).toContain('<summary>2 more</summary>');
  expect(text.indexOf('c, 2026')).toBeGreaterThan(text.indexOf('2 more'));
});
