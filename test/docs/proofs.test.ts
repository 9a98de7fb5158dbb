/** The pages that promise something name the tests that prove it; each of those is there. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from './markdown.ts';

/** Pages with tables whose last column is `proof`. */
const PAGES = ['SECURITY.md', 'docs/reliability.md'].filter((page) => existsSync(join(ROOT, page)));
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** The last cells of the tables with that column. */
function proofs(page: string): string[] {
  const cells: string[] = [];
  let inTable = false;
  for (const line of readFileSync(join(ROOT, page), 'utf8').split('\n')) {
    if (!line.startsWith('|')) inTable = false;
    else if (/\| proof \|$/.test(line)) inTable = true;
    else if (inTable && !/^\|-/.test(line)) cells.push(line.split('|').at(-2) ?? '');
  }
  return cells;
}

/** A command, a test file without its ending, or a folder of them. */
const isThere = (name: string): boolean => {
  const script = /^npm run ([\w:]+)/.exec(name)?.[1];
  if (script !== undefined) return script in scripts;
  return ['.test.ts', '.faults.ts', ''].some((end) => existsSync(join(ROOT, 'test', name + end)));
};

describe.each(PAGES)('%s', (page) => {
  test('names a proof for everything, and every one is there', () => {
    const cells = proofs(page);
    expect(cells.length).toBeGreaterThan(5);
    for (const cell of cells) {
      const names = [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
      expect(names.length + (cell.includes('](') ? 1 : 0), cell).toBeGreaterThan(0);
      expect(
        names.filter((name) => !isThere(name)),
        cell,
      ).toEqual([]);
    }
  });
});
