/** What the tests of the papers read in Markdown. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the repository. */
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A page, by its path from the root. */
export interface Paper {
  readonly path: string;
  readonly text: string;
}

/** One page. */
export const paper = (path: string): Paper => ({
  path,
  text: readFileSync(join(ROOT, path), 'utf8'),
});

/** Every page that is meant to be read. */
export function papers(): Paper[] {
  const below = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' });
  const pages = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md'];
  const docs = below.filter((name) => name.endsWith('.md')).map((name) => join('docs', name));
  return [...pages, ...docs.sort()].map(paper);
}

/** The blocks of code in a language, as they stand between their fences. */
export function blocks({ text }: Paper, language: string): string[] {
  return [...text.matchAll(/^```(\S*)\n([\s\S]*?)^```$/gm)]
    .filter(([, found]) => found === language)
    .map(([, , block = '']) => block);
}

/** The command lines in the `sh` blocks, in order, without what is said about them. */
export function commandLines(page: Paper): string[] {
  return blocks(page, 'sh')
    .flatMap((block) => block.split('\n'))
    .map((line) => line.replace(/\s+#.*$/, '').trim())
    .filter((line) => line !== '');
}

/** Links to files of the repository, as paths from the root, with the heading that they point at. */
export function ownLinks({ path, text }: Paper): { file: string; heading: string | undefined }[] {
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => {
      const [file = '', heading] = target.split('#');
      const from = file === '' ? path : join(dirname(path), file);
      return { file: relative('.', from), heading };
    });
}

/** The anchors of a page's headings. */
export function anchors({ text }: Paper): string[] {
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}
