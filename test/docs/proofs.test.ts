/** The pages that promise something name the tests that prove it; each of those is there. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from './markdown.ts';

/** Pages with tables whose last column is `proof`. */
const PAGES = ['SECURITY.md', 'docs/reliability.md', 'docs/completeness-cases.md'].filter((page) =>
  existsSync(join(ROOT, page)),
);
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

/** The files of a test without their endings, or the folder of several. */
const placesOf = (name: string): string[] =>
  ['.test.ts', '.long.ts', '.faults.ts', '.ts', '']
    .map((end) => join(ROOT, 'test', name + end))
    .filter((path) => existsSync(path));

/** A command, a test file without its ending, or a folder of them. */
const isThere = (name: string): boolean => {
  const script = /^npm run ([\w:]+)/.exec(name)?.[1];
  return script === undefined ? placesOf(name).length > 0 : script in scripts;
};

/** Tests that are named behind their file, `file` "one", "another", and are not in it. */
function namedInVain(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`((?:,? "[^"]+")+)/g)].flatMap(([, file = '', tests = '']) => {
    const text = placesOf(file)
      .map((place) => readFileSync(place, 'utf8'))
      .join();
    return [...tests.matchAll(/"([^"]+)"/g)]
      .map(([, name = '']) => name)
      .filter((name) => !text.includes(name));
  });
}

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
      expect(namedInVain(cell), cell).toEqual([]);
    }
  });
});

/** Pages that lead through the code. */
const GUIDES = [
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'README.md',
  'docs/completeness.md',
  'docs/completeness-cases.md',
];
const CODE =
  /`((?:src|test|migrations|bench|simulator|docs|walk|store|source|plan|days|cli|settings|ledger)\/[\w./-]+\.\w+)`/g;

test.each(GUIDES)('%s names no file that is not there', (page) => {
  const names = [...readFileSync(join(ROOT, page), 'utf8').matchAll(CODE)].map(
    ([, name = '']) => name,
  );
  const gone = names.filter(
    (name) => !existsSync(join(ROOT, name)) && !existsSync(join(ROOT, 'src', name)),
  );
  expect(gone).toEqual([]);
});
