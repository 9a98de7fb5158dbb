/** What ./tables.test.ts leaves to the night: every other mistake in the tables of the settings. */
import { test } from 'vitest';
import { expectRefused } from './wrong-tables.ts';

test.each([
  ['tables:\n  Alerts:\n', /tables\.Alerts\): a table is named with small letters/],
  [
    'tables:\n  alerts:\n    stream: event\n    columns: { a: {} }\n',
    /is not a stream that is defined .*did you mean events\?/,
  ],
  ['tables:\n  alerts:\n    stream: events\n', /has no columns/],
  [
    'tables:\n  alerts:\n    stream: events\n    columns:\n      day: {}\n',
    /is a column that every record table has/,
  ],
  [
    'tables:\n  alerts:\n    stream: events\n    columns:\n      a: { typ: text }\n',
    /there is no such setting; did you mean type\?/,
  ],
  [
    'tables:\n  alerts:\n    stream: events\n    columns:\n      a: { type: timestamptz, format: YYYY }\n',
    /lacks the month/,
  ],
  [
    'tables:\n  alerts:\n    stream: events\n    retention: 5m\n    columns: { a: {} }\n',
    /or write forever/,
  ],
])('%j is refused, with its place', expectRefused);
