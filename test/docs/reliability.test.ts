/** docs/reliability.md names only proofs that are there, and the figures of each command have their place. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { markdownTable, withFigures } from '../support/reliability-page.ts';
import { paper, ROOT } from './markdown.ts';

const { text } = paper('docs/reliability.md');
const faults = /^## Faults\n([\s\S]*?)^## /m.exec(text)?.[1] ?? '';

test('every test that is named as a proof exists', () => {
  const named = [...faults.matchAll(/`([a-z0-9]+\/[a-z0-9-]+)`/g)].map(([, name]) => name ?? '');
  expect(named.length).toBeGreaterThan(10);
  const isThere = (name: string) =>
    ['test', 'long'].some((end) => existsSync(join(ROOT, `test/${name}.${end}.ts`)));
  expect(named.filter((name) => !isThere(name))).toEqual([]);
});

test.each(['chaos', 'mutants', 'model', 'soak'])('the figures of %s have their place', (name) => {
  expect(withFigures(text, name, 'new')).toContain(`<!-- ${name} -->\nnew\n<!-- /${name} -->`);
});

describe('figures', () => {
  test('replace what stands between their marks, and nothing else', () => {
    const page = 'a\n<!-- x -->\nold\n<!-- /x -->\nb\n';
    expect(withFigures(page, 'x', '\nnew\n')).toBe('a\n<!-- x -->\nnew\n<!-- /x -->\nb\n');
    expect(() => withFigures(page, 'y', 'new')).toThrow('no marks for y');
  });

  test('are tables with a row for each line', () => {
    expect(markdownTable(['what', 'count#'], [['a | b', 2]])).toBe(
      '| what | count |\n|---|---:|\n| a \\| b | 2 |',
    );
  });
});
