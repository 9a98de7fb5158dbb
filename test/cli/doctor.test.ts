/** What the doctor concludes from versions and from times in records. */
import { describe, expect, test } from 'vitest';
import { supportEnded } from '../../src/cli/doctor/support.ts';
import { formatOffset, offsetsShown } from '../../src/cli/doctor/time-zone.ts';

describe('support', () => {
  test.each([
    ['node', '20.19.4', '2026-04-30', null],
    ['node', '20.19.4', '2026-05-01', '2026-04-30'],
    ['node', '99.0.0', '2040-01-01', null],
    ['postgres', '14.3', '2026-12-01', '2026-11-12'],
    ['postgres', '18beta1', '2026-12-01', null],
  ] as const)('%s %s on %s: %s', (of, version, today, ended) => {
    expect(supportEnded(of, version, today)).toBe(ended);
  });
});

describe('the offset of a source', () => {
  const day = '2026-03-01';
  const answered = (records: readonly unknown[], from = '00:00:00', to = '00:59:59') => [
    { from: `${day} ${from}`, to: `${day} ${to}`, records },
  ];
  const shown = (answers: ReturnType<typeof answered>) => {
    const offsets = offsetsShown(answers, [['timestamp'], ['@timestamp']]);
    return offsets && formatOffset(offsets);
  };

  test.each([
    [
      [{ timestamp: '2026-02-28T18:30:00.123+0000' }, { timestamp: '2026-02-28T19:25:00Z' }],
      'UTC+05:30',
    ],
    [[{ timestamp: '2026-03-01T00:30:00.000Z' }], 'UTC+00:00'],
    // The zone in which a time is written says nothing; the instant does.
    [[{ timestamp: '2026-03-01T05:30:00+05:00' }], 'UTC+00:00'],
    [[{ _source: { '@timestamp': '2026-03-01T04:30:00Z' } }], 'UTC-04:00'],
    [[{ timestamp: Date.parse('2026-02-28T22:30:00Z') }], 'UTC+02:00'],
    [[{ timestamp: Date.parse('2026-02-28T22:30:00Z') / 1000 }], 'UTC+02:00'],
  ])('%j: %s', (records, expected) => expect(shown(answered(records))).toBe(expected));

  test.each([
    ['no time', [{ id: 1 }]],
    ['a time without a zone', [{ timestamp: '2026-03-01 00:30:00' }]],
  ])('%s tells nothing', (_, records) => expect(shown(answered(records))).toBeNull());

  test('times that lie too far apart fit none', () => {
    const records = [{ timestamp: '2026-02-28T18:30:00Z' }, { timestamp: '2026-03-01T18:30:00Z' }];
    const { least, most } = offsetsShown(answered(records), [['timestamp']]) ?? {};
    expect(least).toBeGreaterThan(most ?? Number.POSITIVE_INFINITY);
  });

  test('both edges narrow it', () => {
    const answers = [
      ...answered([{ timestamp: '2026-02-28T22:00:05Z' }]),
      ...answered([{ timestamp: '2026-03-01T21:59:50Z' }], '23:00:00', '23:59:59'),
    ];
    const offsets = offsetsShown(answers, [['timestamp']]);
    expect(offsets && offsets.most - offsets.least).toBeLessThan(600_000);
    expect(shown(answers)).toBe('UTC+02:00');
  });
});
