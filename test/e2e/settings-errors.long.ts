/** What ./settings-errors.test.ts leaves to the night: more of what may be wrong with days, streams, zones and schedules. */
import { test } from 'vitest';
import { expectTold } from './wrong-settings.ts';

test.each([
  [
    'a day that does not exist',
    ['backfill', '--from', '2026-02-30', '--to', '2026-03-01'],
    {},
    ['--from', '2026-02-30', 'calendar'],
  ],
  [
    '--from after --to',
    ['backfill', '--from', '2026-03-02', '--to', '2026-03-01'],
    {},
    ['--from', '2026-03-02', 'after', '2026-03-01'],
  ],
  ['a stream that does not exist', ['run', '--streams', 'evnts'], {}, ['evnts', 'events']],
  [
    'a time zone that does not exist',
    ['run', '--timezone', 'Europe/Berlinn'],
    {},
    ['--timezone', 'Europe/Berlinn'],
  ],
  [
    'the same from the environment',
    ['run'],
    { DAYWALK_TIMEZONE: 'Mars/Base' },
    ['DAYWALK_TIMEZONE', 'Mars/Base'],
  ],
  [
    'a schedule with six fields',
    ['worker', '--schedule', '* * * * * *'],
    {},
    ['--schedule', 'five'],
  ],
] as const)('%s', expectTold);
