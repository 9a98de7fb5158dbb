/** The table: its defaults are right, its names are unambiguous, and help can read it quickly. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { settingsTableMarkdown } from '../../src/cli/docs-tables.ts';
import { Wrong } from '../../src/settings/problems.ts';
import { isSecret } from '../../src/settings/table/setting.ts';
import { ROWS } from '../../src/settings/table/table.ts';
import { formatValue, parseValue } from '../../src/settings/values/value.ts';

describe('rows', () => {
  test.each(ROWS.filter((row) => row.default !== null))('the default of $name is right', (row) => {
    const text = row.default ?? '';
    const value = parseValue(row.kind, text, '/');
    if (value instanceof Wrong) throw new Error(value.about(text));
    if (row.kind.kind !== 'path') expect(formatValue(row.kind, value)).toBe(text);
  });
  test('no key, name, flag or variable stands twice', () => {
    for (const list of [
      ROWS.map((row) => row.key),
      ROWS.map((row) => row.name),
      ROWS.flatMap((row) => row.flag ?? []),
      ROWS.flatMap((row) => row.env),
    ])
      expect(new Set(list).size).toBe(list.length);
  });
  test('a secret is never a flag and never in the file', () => {
    for (const row of ROWS.filter(({ kind }) => isSecret(kind)))
      expect(row).toMatchObject({ flag: null, inFile: false });
  });
  test('the key of a setting with a flag is what commander calls it', () => {
    for (const { flag, key } of ROWS)
      if (flag) expect(flag.slice(2).replace(/-./g, (m) => m.slice(1).toUpperCase())).toBe(key);
  });
  test('a description is one sentence', () => {
    for (const row of ROWS) expect(row.description).toMatch(/^[A-Z][^\n]*\.$/);
  });
  test('help loads nothing but the table', () => {
    for (const file of ['table.ts', 'table-rooms.ts', 'kinds.ts', 'setting.ts']) {
      const text = readFileSync(
        new URL(`../../src/settings/table/${file}`, import.meta.url),
        'utf8',
      );
      const imports = [...text.matchAll(/^import (?!type).* from '(.*)'/gm)].map((m) => m[1]);
      expect(
        imports.filter((name) => !/^\.\/(setting|kinds|table-\w+)\.ts$/.test(name ?? '')),
      ).toEqual([]);
    }
  });
});

test('the table of docs/settings.md has a row for every setting, with five cells', () => {
  const lines = settingsTableMarkdown().split('\n');
  for (const row of ROWS)
    expect(lines.filter((line) => line.includes(`\`${row.env[0]}\``))).toHaveLength(1);
  for (const line of lines) expect(line.replaceAll('\\|', '').match(/\|/g)).toHaveLength(6);
});
