/** What `daywalk search` says below its hits. */
import { expect, test } from 'vitest';
import { describeReport } from '../../src/cli/verbs/search.ts';

const lines = (...unproven: { day: string; state: string }[]) =>
  describeReport({
    limited: false,
    streams: [
      {
        stream: 'events',
        from: '2026-03-01',
        to: '2026-03-09',
        hits: 0,
        finished: true,
        pagesOpened: 0,
        days: 9,
        proven: 9 - unproven.length,
        unproven,
      },
    ],
  });

test('days that are not proven are named, with what can be done about each kind', () => {
  expect(lines()).toEqual(['events: nothing; 9 of 9 days proven, 2026-03-01 to 2026-03-09']);
  expect(
    lines(
      { day: '2026-03-01', state: 'unplanned' },
      { day: '2026-03-02', state: 'unplanned' },
      { day: '2026-03-09', state: 'open' },
    ).slice(1),
  ).toEqual([
    '  not proven: 2026-03-01 to 2026-03-02 unplanned, 2026-03-09 open',
    '  `daywalk backfill --from DAY --to DAY` walks what is before the first day; what is open is exported once it is closed',
  ]);
  expect(
    lines(
      { day: '2026-03-01', state: 'pruned' },
      { day: '2026-03-03', state: 'failed' },
      { day: '2026-03-04', state: 'damaged' },
    ).at(-1),
  ).toBe(
    '  `daywalk gaps` has the commands that fill gaps; `daywalk verify --offline` tells what of a damaged day is gone; what was pruned cannot be searched',
  );
});
