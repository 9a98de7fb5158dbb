/** The invariants of ARCHITECTURE.md: each is cited by the code that enforces it and by a test that proves it. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../', import.meta.url));
const page = join(root, 'ARCHITECTURE.md');

/** The numbers of the list items that begin `- **I1** text`. */
function invariantsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^\s*[-*] \*\*(I\d+)\*\*[ \t]+\S/gm)].map(
    ([, number = '']) => number,
  );
}

/** Each number that is cited, with the files that cite it. */
function citations(files: readonly { path: string; text: string }[]): Map<string, string[]> {
  const cited = new Map<string, string[]>();
  for (const { path, text } of files) {
    for (const number of new Set(text.match(/\bI[1-9]\d?\b/g))) {
      cited.set(number, [...(cited.get(number) ?? []), path]);
    }
  }
  return cited;
}

function filesBelow(folder: string): { path: string; text: string }[] {
  const at = join(root, folder);
  if (!existsSync(at)) return [];
  return readdirSync(at, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|sql)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => ({ path: relative(root, file), text: readFileSync(file, 'utf8') }))
    .filter(({ path }) => path !== 'test/invariants.test.ts');
}

describe('the scanner', () => {
  it('knows an invariant and a citation from other text', () => {
    const markdown = '# X\n- **I1** A.\n  - **I12** B.\n* **I3** C.\n- **I4**\nIn **I5** and - I6.';
    expect(invariantsOf(markdown)).toEqual(['I1', 'I12', 'I3']);
    const cited = citations([
      { path: 'a', text: '// I1 and (I12), I1; not I18n, aI3, I0, IO' },
      { path: 'b', text: 'I1' },
    ]);
    expect([...cited]).toEqual([
      ['I1', ['a', 'b']],
      ['I12', ['a']],
    ]);
  });
});

describe('the invariants', () => {
  const known = existsSync(page) ? invariantsOf(readFileSync(page, 'utf8')) : [];
  const inSources = citations(filesBelow('src/'));
  const inTests = citations(filesBelow('test/'));

  it('are written down in ARCHITECTURE.md, each number once', () => {
    expect(known).not.toEqual([]);
    expect(known).toEqual([...new Set(known)]);
  });

  it('are each cited where they are enforced, in src/', () => {
    expect(known.filter((number) => !inSources.has(number))).toEqual([]);
  });

  it('are each cited where they are proven, in test/', () => {
    expect(known.filter((number) => !inTests.has(number))).toEqual([]);
  });

  it('are known where they are cited', () => {
    const elsewhere = citations([...filesBelow('migrations/'), ...filesBelow('bench/')]);
    const unknown = [inSources, inTests, elsewhere].flatMap((cited) =>
      [...cited]
        .filter(([number]) => !known.includes(number))
        .map(([number, paths]) => `${number} in ${paths.join(', ')}`),
    );
    expect(unknown).toEqual([]);
  });
});
