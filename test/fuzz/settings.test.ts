/** Settings from hostile files, environments and command lines: a SettingsError that tells places and no secret, or settings; nothing else. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { SettingsError } from '../../src/errors.ts';
import { Wrong } from '../../src/settings/problems.ts';
import { ROWS } from '../../src/settings/table/table.ts';
import { formatJsonPath, parseJsonPath } from '../../src/settings/values/paths.ts';
import { parseDuration, parseSize } from '../../src/settings/values/quantity.ts';
import { parseCron, parseDay, parseTimezone } from '../../src/settings/values/time.ts';
import { load, loadYaml } from '../settings/loading.ts';
import { tries } from '../support/night.ts';
import { fuzz } from './fuzzing.ts';

const SECRET = 'fuzz-SECRET-4711';
const wild = fc.string({ unit: 'binary', maxLength: 40 });
const odd = fc.constantFrom(
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  '0',
  '-1',
  '1e9',
  '٣',
  '1_000',
  'true',
  'null',
  '~',
  '*',
  '&a',
  '!!js/function x',
  '$(id)',
  "'; drop table daywalk.pages; --",
  '../../etc/passwd',
  '2026-02-30',
  '90s',
  '1 h',
  '1h1h',
  '9'.repeat(400),
  '64MiB',
  '* * * * *',
  'postgres://u:p@h/d',
  'https://api.example.com',
  '\u0000',
  '\ud800',
  '\u202e',
  'a: b: c',
  '{a: 1',
  '[',
  '"',
  '<<: *a',
  '%TAG ! x',
  '---',
  '? a',
);
const value = fc.oneof({ weight: 3, arbitrary: odd }, wild);

/** Whatever was tried, nobody has changed the objects of everybody. */
function expectUnpolluted(): void {
  expect(Object.keys(Object.prototype)).toEqual([]);
  expect(({} as { pageLength?: unknown }).pageLength).toBeUndefined();
}

function settingsOrTheirError(run: () => unknown): void {
  try {
    run();
  } catch (error) {
    expect(error).toBeInstanceOf(SettingsError);
    expect((error as Error).message).not.toContain(SECRET);
    // Lines are ours; nothing in them steers a terminal.
    expect((error as Error).message.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
  }
  expectUnpolluted();
}

const names = ROWS.flatMap((row) => row.env);
fuzz({
  name: 'environments become settings or a SettingsError without secrets',
  input: fc.dictionary(
    fc.oneof(
      fc.constantFrom(...names),
      fc.constantFrom('DAYWALK___PROTO__', 'DAYWALK_x', '__proto__'),
    ),
    value,
    { maxKeys: 6 },
  ),
  check: (environment) =>
    settingsOrTheirError(() =>
      load({
        environment: {
          ...environment,
          DAYWALK_API_KEY: SECRET,
          HTTPS_PROXY: `http://u:${SECRET}@p`,
        },
      }),
    ),
});

fuzz({
  name: 'command lines become settings or a SettingsError',
  input: fc.dictionary(
    fc.constantFrom(...ROWS.map((row) => row.key), '__proto__', 'constructor'),
    fc.oneof(value, fc.boolean(), fc.constant(undefined)),
    { maxKeys: 5 },
  ),
  check: (flags) => settingsOrTheirError(() => load({ flags })),
});

const EXAMPLE = `api:
  url: https://api.example.com/prefix
  ca_file: ca.pem
timezone: Europe/Berlin
schedule: "15 * * * *"
page_length: 1000
streams:
  linux:
    resource: events
    filters: { agent: "001", rule_level_from: 7 }
    records_path: data.items
`;
const keys = fc.constantFrom(
  'api',
  'url',
  'streams',
  'filters',
  'resource',
  'page_length',
  '__proto__',
  'constructor',
  'x',
  '<<',
);
const line = fc
  .tuple(
    fc.nat(4),
    keys,
    fc.constantFrom(': ', ':', ' : ', ': >\n', ': |\n', ': &a ', ': *a '),
    value,
  )
  .map(([indent, key, colon, text]) => `${'  '.repeat(indent)}${key}${colon}${text}`);
const yaml = fc.oneof(
  fc.array(line, { maxLength: 12 }).map((lines) => lines.join('\n')),
  fc
    .array(fc.tuple(fc.nat(), fc.nat(3), fc.oneof(value, keys)), { minLength: 1, maxLength: 4 })
    .map((edits) =>
      edits.reduce((text, [place, length, insert]) => {
        const at = place % (text.length + 1);
        return text.slice(0, at) + insert + text.slice(at + length);
      }, EXAMPLE),
    ),
  fc
    .tuple(
      fc.constantFrom('[', '{', '- ', '? ', '&a ', '"', "'", '\t', ': ', '!', '|\n ', '#', ' '),
      fc.nat(5_000),
    )
    .map(([piece, times]) => piece.repeat(times)),
  wild,
);
fuzz({
  name: 'YAML files become settings or a SettingsError, in time',
  input: yaml,
  check: (text) => settingsOrTheirError(() => loadYaml(text)),
});

const digits = fc.constantFrom('0', '1', '2', '3', '4', '9', '-', ' ', 'T', '٣', '+');
fuzz({
  name: 'a text is a day exactly where the calendar has it',
  runs: 2_000,
  input: fc.oneof(
    fc
      .tuple(fc.integer({ min: 0, max: 10_000 }), fc.nat(14), fc.nat(33))
      .map(
        ([y, m, d]) =>
          `${String(y).padStart(4, '0')}-${String(m).padStart(2, '0')}-${String(d).padStart(2, '0')}`,
      ),
    fc.array(digits, { maxLength: 12 }).map((all) => all.join('')),
    value,
  ),
  check: (text) => {
    const at = /^\d{4}-\d\d-\d\d$/.test(text) ? new Date(`${text}T00:00:00Z`) : undefined;
    const real =
      at !== undefined && !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
    const day = parseDay(text);
    expect(day).toEqual(real && text >= '1970-01-01' ? text : expect.any(Wrong));
  },
});

fuzz({
  name: 'schedules, zones, durations, sizes and paths are values in their bounds, or wrong',
  runs: tries(150, 1_000),
  input: fc.oneof(
    value,
    fc
      .array(fc.constantFrom('*', '/', '-', ',', '0', '5', '59', ' ', 'L', '#', 'JAN', '?'), {
        maxLength: 14,
      })
      .map((all) => all.join('')),
  ),
  check: (text) => {
    for (const read of [parseCron, parseTimezone])
      expect(['string', 'object']).toContain(typeof read(text));
    for (const found of [
      parseDuration(text, { min: 10, max: 100_000 }),
      parseSize(text, { min: 10, max: 100_000 }),
    ])
      if (!(found instanceof Wrong)) {
        expect(Number.isInteger(found)).toBe(true);
        expect(found).toBeGreaterThanOrEqual(10);
        expect(found).toBeLessThanOrEqual(100_000);
      }
    const path = parseJsonPath(text);
    if (!(path instanceof Wrong)) expect(parseJsonPath(formatJsonPath(path))).toEqual(path);
  },
});
