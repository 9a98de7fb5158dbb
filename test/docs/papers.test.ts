/** The papers say what is so: settings, verbs, exit codes, scripts and links; and nothing that does not belong there. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import {
  exitCodesTableMarkdown,
  settingsTableMarkdown,
  verbsTableMarkdown,
} from '../../src/cli/docs-tables.ts';
import { readProgram } from '../../src/cli/program.ts';
import { loadSettings } from '../../src/settings/load.ts';
import { ROWS } from '../../src/settings/table/table.ts';
import { anchors, commandLines, ownLinks, type Paper, paper, papers, ROOT } from './markdown.ts';

const readme = paper('README.md');
const all = papers();
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const program: Command = readProgram(new AbortController().signal, () => {});

/** The first sentence that is wrong is more useful than a count. */
const places = ({ path, text }: Paper, pattern: RegExp) =>
  [...text.matchAll(pattern)].map(([found]) => `${path}: ${found}`);

test.each([
  ['docs/verbs.md', 'verbs', verbsTableMarkdown()],
  ['docs/verbs.md', 'exit codes', exitCodesTableMarkdown()],
  ['docs/settings.md', 'settings', settingsTableMarkdown()],
])('%s has the table of %s as it is in code; `npm run docs` writes it', (page, name, made) => {
  const [, between] = paper(page).text.split(new RegExp(`<!-- /?${name} -->\\n`));
  expect(between).toBe(`${made}\n`);
});

describe('README.md', () => {
  test('fits 200 lines', () => {
    expect(readme.text.trimEnd().split('\n').length).toBeLessThanOrEqual(200);
  });

  test('links to every page of docs', () => {
    const linked = ownLinks(readme).map(({ file }) => file);
    const pages = all.map(({ path }) => path).filter((path) => /^docs\/[^/]+\.md$/.test(path));
    expect(pages.filter((path) => !linked.includes(path))).toEqual([]);
  });

  test('begins with the two commands that show and check everything', () => {
    expect(commandLines(readme).slice(0, 2)).toEqual([
      'npm ci && npm run demo',
      'npm ci && npm run check',
    ]);
  });
});

test('docs/completeness.md is read in the ten minutes that it promises', () => {
  // 250 words a minute.
  expect(paper('docs/completeness.md').text.split(/\s+/).length).toBeLessThanOrEqual(2_500);
});

test('daywalk.example.yaml is a settings file that the program takes', () => {
  const settings = loadSettings({
    flags: { config: 'daywalk.example.yaml' },
    environment: {},
    cwd: ROOT,
    readFile: (path) =>
      path.includes('secrets/')
        ? Buffer.from(path.endsWith('api_key') ? 'key-of-the-test' : 'postgres://a:b@localhost/c')
        : readFileSync(path),
    require: ['api'],
  });
  expect(settings.streams.map((stream) => stream.name)).toEqual([
    'events',
    'smart-event',
    'severe',
  ]);
});

test('CHANGELOG.md has the version of package.json, and so has the program', () => {
  expect(paper('CHANGELOG.md').text).toContain(`## [${manifest.version}]`);
  expect(program.version()).toBe(manifest.version);
});

test('every decision is listed', () => {
  const list = paper('docs/decisions/README.md').text;
  const pages = all.map(({ path }) => path).filter((path) => /decisions\/\d{4}-/.test(path));
  expect(pages.length).toBeGreaterThan(0);
  for (const path of pages) {
    const number = /\d{4}/.exec(path)?.[0];
    expect(list).toContain(`[${number}](${path.split('/').at(-1)})`);
    const { text } = paper(path);
    expect(text).toMatch(new RegExp(`^# ${number} `));
    const headings = [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(['Context', 'Decision', 'Consequences']);
  }
});

describe.each(all.map((page) => [page.path, page] as const))('%s', (_, page) => {
  test('links to what is there', () => {
    const broken = ownLinks(page).filter(({ file, heading }) => {
      if (!existsSync(join(ROOT, file))) return true;
      return heading !== undefined && !anchors(paper(file)).includes(heading);
    });
    expect(broken).toEqual([]);
  });

  test('names only files that are there', () => {
    const named = /`((?:src|bench|migrations|test|packages|simulator|docs|deploy)\/[\w./-]+)`/g;
    const paths = [...page.text.matchAll(named)].map(([, path = '']) => path);
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  test('names only scripts and settings that exist', () => {
    const scripts = [...page.text.matchAll(/\bnpm (?:run(?: --silent)? )([a-z\d:-]+)/g)];
    const names = scripts.map(([, name = '']) => name);
    expect(names.filter((name) => !(name in manifest.scripts))).toEqual([]);
    const known = new Set(ROWS.flatMap((row) => row.env));
    const named = page.text.match(/\b(?:DAYWALK|DATABASE)_[A-Z_]+\b/g) ?? [];
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });

  test('names no registry, no path of a machine, and shows no emoji', () => {
    expect(places(page, /\b(?:registry|npmjs|ghcr|quay|pypi)\.[a-z.]+/gi)).toEqual([]);
    expect(places(page, /(?<![\w.~$}])\/(?:home|root|work|tmp|Users|opt|usr)\/\S*/g)).toEqual([]);
    expect(places(page, /\p{Emoji_Presentation}/gu)).toEqual([]);
  });
});
