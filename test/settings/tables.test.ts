/** Record tables in the settings file: which names they and their columns may have. */
import { expect, test } from 'vitest';
import { loadYaml, problemsOf } from './loading.ts';

const withColumn = (table: string, column: string) =>
  `tables:\n  ${table}:\n    stream: events\n    columns:\n      ${column}: { path: id }\n`;

test('any other name is the table’s, also one that SQL has a meaning for', () => {
  for (const name of ['select', 'alerts_2026', 'severe_stream', 'pages_2026'])
    expect(loadYaml(withColumn(name, 'user')).tables).toMatchObject([
      { name, columns: [{ name: 'user', path: ['id'], type: 'text' }] },
    ]);
});

test.each(['yes', 'True', 'on', '1'])('an index is asked for with %s', (word) => {
  const text = withColumn('alerts', 'user').replace('path: id', `path: id, index: ${word}`);
  expect(loadYaml(text).tables[0]?.columns).toMatchObject([{ name: 'user', index: true }]);
});

test.each([
  // A view that is made when such a stream is defined, later on.
  ['stream_severe', 'id', /\(tables\.stream_severe\): daywalk names the views of streams so/],
  // Partitions, of pages or of another table, that are made when their month comes.
  ['pages_2026_12', 'id', /\(tables\.pages_2026_12\): daywalk names the months of a table so/],
  ['alerts_1_2026_12', 'id', /daywalk names the months of a table so/],
  ['Alerts', 'id', /a table is named with small letters/],
  [
    'alerts',
    'xmin',
    /\(tables\.alerts\.columns\.xmin\): is a column that Postgres gives every table/,
  ],
  ['alerts', 'ctid', /is a column that Postgres gives every table/],
  ['alerts', 'walk_id', /is a column that every record table has/],
])('the table %s with the column %s is refused', (table, column, why) => {
  expect(problemsOf(() => loadYaml(withColumn(table, column)))).toEqual([
    expect.stringMatching(why),
  ]);
});

test('who wants a floating-point number is told what keeps every digit', () => {
  const text = withColumn('alerts', 'level').replace('path: id', 'type: double');
  expect(problemsOf(() => loadYaml(text))).toEqual([
    expect.stringMatching(/is not one of .*numeric.*jsonb$/),
  ]);
});
