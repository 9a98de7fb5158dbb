/** `daywalk fields`: every path of the records, exactly when asked, at a bounded cost otherwise. */
import { expect, test } from 'vitest';
import { describeFields } from '../../src/cli/verbs/fields.ts';
import type { FieldReport } from '../../src/tables/fields.ts';
import { spread } from '../../src/tables/fields.ts';
import { backfillHere } from '../support/backfill-here.ts';
import { setScene } from '../support/scene.ts';

const RANGE = ['--from', '2026-03-01', '--to', '2026-03-03'];

/** All paths of a value, as the verb names them, found by looking at it another way. */
function pathsOf(value: unknown, path: readonly string[] = []): string[] {
  if (typeof value !== 'object' || value === null) return [JSON.stringify(path)];
  const inner = Array.isArray(value)
    ? value.flatMap((item) => pathsOf(item, [...path, '[]']))
    : Object.entries(value).flatMap(([key, item]) => pathsOf(item, [...path, key]));
  return [JSON.stringify(path), ...inner];
}

test('--all is exact: paths, types, share, first and last day', async () => {
  const scene = await setScene({ eventsPerDay: 180 });
  scene.api.insert([
    {
      time: '2026-03-02T10:00:00.000Z',
      text: '{"timestamp":"2026-03-02T10:00:00.000+0000","new":{"a.b":[1,"x",null]},"id":123456789012345678901234567890.10}',
    },
  ] as never);
  await backfillHere(scene, { from: '2026-03-01', to: '2026-03-03' });
  const report: FieldReport = JSON.parse(
    (await scene.succeedHere(['fields', '--all', '--stream', 'events', '--json'])).stdout,
  );
  const texts = scene.api.listed({ from: '2026-03-01 00:00:00', to: '2026-03-03 23:59:59' });
  const counts = new Map<string, number>();
  for (const text of texts)
    for (const path of new Set(pathsOf(JSON.parse(text))))
      counts.set(path, (counts.get(path) ?? 0) + 1);
  counts.delete('[]');
  const found = new Map(report.fields.map(({ path, records }) => [JSON.stringify(path), records]));
  expect(found).toEqual(counts);
  expect(report.looked).toMatchObject([
    { days: 3, daysStored: 3, records: texts.length, recordsStored: texts.length },
  ]);
  const field = (...path: string[]) =>
    report.fields.find((candidate) => JSON.stringify(candidate.path) === JSON.stringify(path));
  expect(field('new', 'a.b', '[]')).toMatchObject({
    types: ['null', 'number', 'string'],
    firstDay: '2026-03-02',
    lastDay: '2026-03-02',
    records: 1,
  });
  expect(field('id')).toMatchObject({
    types: ['number'],
    firstDay: '2026-03-01',
    lastDay: '2026-03-03',
    share: 1,
  });

  const shown = await scene.succeed(['fields', '--all', '--stream', 'events', ...RANGE]);
  expect(shown.stdout).toMatch(/^events: all \d+ records on 3 of 3 days$/m);
  expect(shown.stdout).toMatch(
    /^new\.a\\\.b\[\] +null, number, string +0\.\d % {2}2026-03-02 {2}2026-03-02 {2}"x"|1$/m,
  );
  const some = await scene.succeedHere(['fields', ...RANGE]);
  expect(some.stdout).toMatch(
    /^events: \d+ of \d+ records on 3 of 3 days; --all looks at every one$/m,
  );
  expect(some.stdout).toMatch(/^rule\.mitre\.tactic\[\] +string +\d+\.\d %/m);
});

test('what is in a record cannot move the cursor or turn the text round', () => {
  const lines = describeFields({
    fields: [
      {
        stream: 'events',
        path: ['a\u001b[2J'],
        types: ['string'],
        firstDay: '2026-03-01',
        lastDay: '2026-03-01',
        records: 1,
        share: 1,
        sample: `"\u202egnp\u0085${'x'.repeat(100)}"`,
      },
    ],
    looked: [
      { stream: 'events', days: 1, daysStored: 1, daysTiered: 0, records: 1, recordsStored: 1 },
    ],
  });
  expect(lines.join('')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(lines.at(-1)).toMatch(/^a\\u001b\[2J .*"\\u202egnp\\u0085x+…$/);
});

test('a spread has the first and the last, and no more than it may', () => {
  expect(spread([1, 2, 3], 5)).toEqual([1, 2, 3]);
  const some = spread(
    Array.from({ length: 1_000 }, (_, index) => index),
    60,
  );
  expect([some.length, some[0], some.at(-1), new Set(some).size]).toEqual([60, 0, 999, 60]);
});
