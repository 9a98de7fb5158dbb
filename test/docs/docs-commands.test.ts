/** The commands of the pages below docs, but those of docs/verbs.md, which ./commands.test.ts runs, and docs/tables.md, which ./tables.test.ts does: each runs here, or at night (./docs-commands.long.ts), as it stands there, with other folders, ports and shorter ranges, or is known to be run by hand. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { beforeAll, describe, expect, test } from 'vitest';
import { readProgram } from '../../src/cli/program.ts';
import { backfillHere } from '../support/backfill-here.ts';
import { dayAgo } from '../support/days.ts';
import { temporaryFolder } from '../support/program.ts';
import { runHere } from '../support/program-here.ts';
import { endLooks } from '../support/publishing.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { commandLines, type Paper, paper, papers } from './markdown.ts';
import { linesOf, SETTLE } from './run-lines.ts';

/** They need a cluster, an engine, root, or the tools of this very Postgres; test/packaging looks at what they use. */
const BY_HAND =
  /^(?:export |kubectl |docker |\($|\)$|if \[|cat > secrets\/api_key$|umask |openssl rand |echo |sudo |pg_dump |createdb |pg_restore |DATABASE_URL=postgres:\/\/localhost\/restored )/;

let scene: Scene;

beforeAll(async () => {
  scene = await setScene({ eventsPerDay: 20 });
  const yesterday = dayAgo(1);
  for (const [from, to] of [
    ['2025-01-01', '2025-01-02'],
    ['2026-03-01', '2026-03-01'],
    [yesterday, yesterday],
  ] as const)
    await backfillHere(scene, { from, to }, { environment: SETTLE });
});

test('each command line is run here or by hand', () => {
  const here = ['files', 'pruning', 'serving', 'tables', 'tier'].map((name) => `docs/${name}.md`);
  const pages = papers().filter(({ path }) => /^docs\/(?!verbs\.md)/.test(path));
  for (const page of pages) {
    const left = commandLines(page).filter((line) => !BY_HAND.test(line));
    if (!here.includes(page.path)) expect(left, page.path).toEqual([]);
    else expect(left.every((line) => line.startsWith('daywalk '))).toBe(true);
  }
  expect(here.map((path) => linesOf(path).length)).toEqual([4, 2, 2, 2, 3]);
});

test('docs/files.md: everything, a range that is not complete, Parquet, a record table', async () => {
  const folder = temporaryFolder();
  const environment = { ...scene.environment, ...SETTLE };
  const config = join(folder, 'tables.yaml');
  writeFileSync(config, 'tables: { alerts: { stream: events, columns: { id: {} } } }');
  await scene.succeedHere(['tables', '--apply'], { ...SETTLE, DAYWALK_CONFIG: config });
  const codes = [];
  for (const args of linesOf('docs/files.md'))
    codes.push((await runHere(args, { environment, folder })).code);
  expect(codes).toEqual([0, 3, 0, 0]);
  for (const path of [
    'archive/SHA256SUMS',
    'archive/stream=events/day=2026-03-01/records.ndjson.gz',
    'parquet/stream=events/day=2026-03-01/records.parquet',
    'alerts/alerts/day=2026-03-01/records.parquet',
  ])
    expect(existsSync(join(folder, path)), path).toBe(true);
});

test('docs/tier.md: days move, and come back', async () => {
  const folder = temporaryFolder();
  const environment = { ...scene.environment, ...SETTLE, DAYWALK_TIER_URL: join(folder, 'tier') };
  await endLooks(scene.database);
  const said = [];
  for (const args of linesOf('docs/tier.md')) {
    const ended = await runHere(args, { environment, folder });
    expect(ended, ended.stderr).toMatchObject({ code: 0 });
    said.push(ended.stdout);
  }
  expect(said[0]).toMatch(/^would move: events 2025-01-01 to 2025-01-02$/m);
  expect(said[1]).toMatch(/^moved: events 2025-01-01 to 2025-01-02$/m);
  expect(said[2]).toMatch(/^4 days came back from .*tier: .*\.$/m);
  // What the next page does needs the others, too.
  const all = ['tier', '--restore', '--from', '2025-01-01', '--to', 'yesterday'];
  expect(await runHere(all, { environment, folder })).toMatchObject({ code: 0 });
});

test('docs/pruning.md: what is exported goes', async () => {
  const folder = temporaryFolder();
  const days = Math.floor((Date.now() - Date.parse('2025-06-01')) / 86_400_000);
  const environment = { ...scene.environment, ...SETTLE, DAYWALK_RETENTION: `${days}d` };
  for (const args of linesOf('docs/pruning.md')) {
    const here = args.map((word) => (word === '/archive' ? 'archive' : word));
    const ended = await runHere(here, { environment, folder });
    expect(ended, ended.stderr).toMatchObject({ code: 0 });
    if (args[0] === 'prune')
      expect(ended.stdout).toMatch(/^pruned: events 2025-01-01 to 2025-01-02$/m);
  }
});

describe('commands within sentences', () => {
  const program: Command = readProgram(new AbortController().signal, () => {});

  /** What is wrong with the verbs and options that a page names; `PROGRAM verb --option` between backquotes. */
  function mistakes({ text }: Paper): string[] {
    const named = text.matchAll(/`(?:npx )?(?:daywalk|node dist\/main\.js) ([^`]+)`/g);
    return [...named].flatMap(([whole, line = '']) => {
      const [name = '', ...words] = line.split(/\s+/);
      if (name === '<verb>' || name.startsWith('-')) return [];
      const verb = program.commands.find((command) => command.name() === name);
      if (verb === undefined) return [`${whole}: no such verb`];
      const options = ['--help', ...verb.options.map(({ long }) => long)];
      return words
        .filter((word) => word.startsWith('--') && !options.includes(word))
        .map((word) => `${whole}: no ${word}`);
    });
  }

  const pages = [...papers(), paper('SECURITY.md')];
  test.each(pages.map((page) => [page.path, page] as const))('%s', (_, page) => {
    expect(mistakes(page)).toEqual([]);
  });
  test('a mistake would be seen', () => {
    const text = 'Run `daywalk backfil` or `daywalk run --jsn`, not `daywalk run --json`.';
    expect(mistakes({ path: '', text })).toHaveLength(2);
  });
});
