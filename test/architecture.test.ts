/** The architecture: the rules of the parts hold for the sources as they are, and would notice if they did not. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  EXCEPTIONS,
  RULES,
  type Source,
  spentExceptions,
  type Violation,
  violations,
} from './architecture/rules.ts';
import { importsOf, scan } from './architecture/scan.ts';

const root = fileURLToPath(new URL('../', import.meta.url));

function sourcesBelow(folder: string): Source[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => ({ path: relative(root, file), text: readFileSync(file, 'utf8') }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

function told({ path, line, found, reason }: Violation): string {
  return `${path}:${line}: ${found.replace(/\s+/g, ' ')} (${reason})`;
}

describe('the sources', () => {
  const sources = [...sourcesBelow('src/'), ...sourcesBelow('simulator/')];

  it('are found', () => {
    expect(sources.map(({ path }) => path)).toContain('src/model.ts');
  });

  it.each(Object.keys(RULES))('%s', (rule) => {
    expect(violations(rule, sources).map(told)).toEqual([]);
  });

  it('need every exception that is made for an import', () => {
    expect(spentExceptions(sources)).toEqual([]);
    expect(spentExceptions([])).toEqual(EXCEPTIONS);
  });
});

describe('the rules', () => {
  /** The lines at which `rule` is broken in a file of that text. */
  const lines = (rule: string, path: string, text: string, ...others: Source[]): string[] =>
    violations(rule, [{ path, text }, ...others]).map(({ path: at, line }) => `${at}:${line}`);

  it.each([
    ['src/model.ts', './errors.ts', false],
    ['src/clock.ts', './log.ts', false],
    ['src/log.ts', './errors.ts', true],
    ['src/log.ts', './clock.ts', false],
    ['src/settings/load.ts', '../model.ts', true],
    ['src/settings/load.ts', '../store/pages.ts', false],
    ['src/plan/planner.ts', './days.ts', true],
    ['src/plan/planner.ts', '../clock.ts', false],
    ['src/source/fetch.ts', '../plan/days.ts', false],
    ['src/store/below/child.ts', '../pages.ts', true],
    ['src/store/below/child.ts', '../../source/fetch.ts', false],
    ['src/walk/walk.ts', '../store/pages.ts', true],
    ['src/walk/walk.ts', '../settings/settings.ts', false],
    ['src/walk/walk.ts', '../days/health.ts', false],
    ['src/days/health.ts', '../walk/walk.ts', true],
    ['src/days/health.ts', '../files/rows.ts', false],
    ['src/files/export-days.ts', '../walk/walk.ts', true],
    ['src/files/export-days.ts', '../days/health.ts', true],
    ['src/files/export-days.ts', '../ledger/rows.ts', false],
    ['src/files/export-days.ts', '../settings/settings.ts', false],
    ['src/status-page/metrics.ts', '../cli/pass.ts', false],
    ['src/cli/verbs/worker.ts', '../../status-page/metrics.ts', true],
    ['src/cli/verbs/demo.ts', '../../../simulator/main.ts', false],
    ['src/cli/verbs/demo.ts', '../../main.ts', false],
    ['src/main.ts', './cli/program.ts', true],
    ['src/main.ts', '../simulator/main.ts', false],
    ['simulator/server.ts', './events.ts', true],
    ['simulator/server.ts', '../src/model.ts', false],
    ['src/extra.ts', './model.ts', false],
  ])('%s may import %s: %s', (path, from, allowed) => {
    const forms = [
      `import type { X } from '${from}';`,
      `import x, {\n  type Y,\n} from "${from}";`,
      `export * from '${from}';`,
      `export { x } from '${from}';`,
      `import '${from}';`,
      `const x = await import('${from}');`,
      `let x: typeof import('${from}').x;`,
    ];
    for (const form of forms) {
      expect(lines('parts import one way', path, `// A.\n${form}`).length > 0).toBe(!allowed);
    }
  });

  it('see imports in code only, and name their lines', () => {
    const text = [
      '/* import a from "./a.ts" */ // import b from "./b.ts"',
      `const s = 'import c from "./c.ts"' + \`import('./d.ts') \${await import('./e.ts')} }\`;`,
      'const r = /["\'`]/.test(s) ? 1 / 2 / 3 : s; // "',
      "export const x = 'from';",
      "import { f } from './f.ts';",
      "const url = new URL('./g.ts', import.meta.url);",
    ].join('\n');
    expect(importsOf(scan(text)).map(({ from }) => from)).toEqual(['./e.ts', './f.ts']);
    expect(lines('parts import one way', 'src/model.ts', text)).toEqual([
      'src/model.ts:2',
      'src/model.ts:5',
    ]);
  });

  it('refuse imports that cannot be read, or do not end in .ts', () => {
    const rule = 'imports are readable';
    expect(lines(rule, 'src/a.ts', '\nawait import(name);')).toEqual(['src/a.ts:2']);
    expect(lines(rule, 'src/a.ts', 'await import(`./$'.concat('{name}.ts`);'))).toEqual([
      'src/a.ts:1',
    ]);
    expect(lines(rule, 'src/a.ts', "import './b';")).toEqual(['src/a.ts:1']);
    expect(lines(rule, 'src/a.ts', "import './b.js';")).toEqual(['src/a.ts:1']);
    expect(lines(rule, 'src/a.ts', "import 'pg'; import './b.ts'; import.meta.url;")).toEqual([]);
  });

  it('find circles of any length, types included', () => {
    const rule = 'no files import each other in a circle';
    const file = (name: string, to: string): Source => ({
      path: `src/store/${name}.ts`,
      text: `import type { X } from './${to}.ts';`,
    });
    const circle = [file('a', 'b'), file('b', 'c'), file('c', 'a'), file('d', 'a')];
    expect(violations(rule, circle).map(({ found }) => found)).toEqual([
      'src/store/a.ts → src/store/b.ts → src/store/c.ts → src/store/a.ts',
    ]);
    expect(violations(rule, [file('a', 'a')])).toHaveLength(1);
    expect(violations(rule, [file('a', 'c'), file('b', 'c'), file('c', 'd')])).toEqual([]);
  });

  it('find circles of folders, and of a folder with a file beside it', () => {
    const rule = 'no folders of a part import each other in a circle';
    const file = (path: string, to: string): Source => ({ path, text: `import x from '${to}';` });
    const down = file('src/walk/proof/a.ts', '../rules/b.ts');
    const inside = file('src/walk/proof/c.ts', './a.ts');
    expect(violations(rule, [down, inside])).toEqual([]);
    const up = file('src/walk/rules/d.ts', '../once.ts');
    expect(violations(rule, [down, up])).toEqual([]);
    const back = file('src/walk/once.ts', './proof/c.ts');
    expect(violations(rule, [down, inside, up, back]).map(({ found }) => found)).toEqual([
      'src/walk/proof → src/walk/rules → src/walk/once.ts → src/walk/proof',
    ]);
  });

  const sql = 'SQL is only in src/store/ and in rows';
  const env = 'the environment is only in src/settings/';
  const clock = 'time and chance are only in src/clock.ts';
  const exit = 'only src/main.ts ends the process';
  const stdout = 'stdout is only in src/cli/ and src/main.ts';
  it.each([
    [sql, 'src/store/pages.ts', '`insert into daywalk.pages values ($1)`'],
    [sql, 'src/store/pages.ts', '`select a,\n b from daywalk.pages`'],
    [sql, 'src/store/pages.ts', "'update daywalk.windows set state = $1'"],
    [sql, 'src/store/pages.ts', "'delete from daywalk.pages'"],
    [sql, 'src/store/pages.ts', "'select version()'"],
    [sql, 'src/store/pages.ts', "'select 1'"],
    [sql, 'src/ledger/rows.ts', "'select 1'"],
    [sql, 'src/days/story-rows.ts', "'select 1'"],
    [sql, 'src/store/pages.ts', "'SELECT * FROM pages'"],
    [sql, 'src/store/pages.ts', '`delete from $'.concat('{table}`')],
    [env, 'src/settings/load.ts', 'const { HOME } = process.env;'],
    [env, 'src/settings/load.ts', "process['env'].HOME"],
    [env, 'src/settings/load.ts', 'const { env } = process;'],
    [env, 'src/settings/load.ts', "import { env } from 'node:process';"],
    [clock, 'src/clock.ts', 'setTimeout(f, 1);'],
    [clock, 'src/clock.ts', 'globalThis.setInterval(f, 1);'],
    [clock, 'src/clock.ts', 'Date.now()'],
    [clock, 'src/clock.ts', 'new Date()'],
    [clock, 'src/clock.ts', 'new Date'],
    [clock, 'src/clock.ts', 'performance.now()'],
    [clock, 'src/clock.ts', 'Math.random()'],
    [clock, 'src/clock.ts', "import { randomUUID } from 'node:crypto';"],
    [clock, 'src/clock.ts', "import timers from 'node:timers/promises';"],
    [clock, 'src/clock.ts', 'AbortSignal.timeout(1)'],
    [clock, 'src/clock.ts', 'Temporal.Now.instant()'],
    [exit, 'src/main.ts', 'process.exit(1);'],
    [stdout, 'src/main.ts', 'process.stdout.write(x);'],
    [stdout, 'src/cli/verbs/run.ts', 'console.log(x);'],
  ])('%s: %s may, others may not: %s', (rule, home, text) => {
    const source = `/** A file. */\nconst x = 1;\n${text}\n`;
    expect(lines(rule, 'src/walk/walk.ts', source)).toContain('src/walk/walk.ts:3');
    expect(lines(rule, home, source)).toEqual([]);
    expect(lines(rule, 'simulator/server.ts', source)).toEqual([]);
    const comments = `/** ${text.replaceAll('*', '')} */\n// ${text.replaceAll('\n', ' ')}\n`;
    expect(lines(rule, 'src/walk/walk.ts', comments)).toEqual([]);
  });

  it.each([
    [clock, 'const at = new Date(ms); socket.setTimeout(0); clock.now();'],
    [clock, "const hint = 'setTimeout(…) and Date.now()';"],
    [env, 'const environment = { env: {} }; child.env; processEnv;'],
    [exit, 'process.exitCode = 3; child.on("exit", f);'],
    [stdout, 'child.stdout.on("data", f); process.stderr.write(x);'],
    [sql, "const help = 'Select another range, or update the settings.';"],
  ])('%s: does not mind %s', (rule, text) => {
    expect(lines(rule, 'src/walk/walk.ts', text)).toEqual([]);
  });

  it('know long files, drawers, and files that do not say their subject', () => {
    const line = '/** A. */\n';
    expect(lines('no file is too long', 'src/a.ts', line.repeat(300))).toEqual([]);
    expect(lines('no file is too long', 'src/a.ts', line.repeat(301))).toEqual(['src/a.ts:301']);
    for (const path of ['src/utils.ts', 'src/store/helpers/a.ts', 'simulator/http-utils.ts']) {
      expect(lines('no file is a drawer', path, line)).toHaveLength(1);
    }
    expect(lines('no file is a drawer', 'src/lib-version/record-types-seen.ts', '')).toHaveLength(
      1,
    );
    expect(lines('no file is a drawer', 'src/store/pages.ts', '')).toEqual([]);
    const subject = 'each file says its subject first';
    for (const good of ['/** A page is a body. */', '#!/usr/bin/env node\n// The way in.\n']) {
      expect(lines(subject, 'src/a.ts', good)).toEqual([]);
    }
    for (const bad of ['const x = 1; // Late.', '/** todo */', '// biome-ignore-all x\n', '']) {
      expect(lines(subject, 'src/a.ts', bad)).toHaveLength(1);
    }
  });
});
