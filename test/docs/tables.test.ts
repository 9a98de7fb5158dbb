/** docs/tables.md: its tables are made and its queries run, and the page shows what they print; with `--update` it is written. The queries of the dashboard run, too. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { backfillHere } from '../support/backfill-here.ts';
import type { TestDatabase } from '../support/database.ts';
import { temporaryFolder } from '../support/program.ts';
import { setScene } from '../support/scene.ts';
import { blocks, commandLines, paper, ROOT } from './markdown.ts';
import { shownPage } from './shown-queries.ts';

const page = paper('docs/tables.md');
let database: TestDatabase;

beforeAll(async () => {
  const scene = await setScene({ seed: 'queries', eventsPerDay: 200, dayVariation: 0 });
  ({ database } = scene);
  const config = join(temporaryFolder(), 'daywalk.yaml');
  const [yaml = ''] = blocks(page, 'yaml');
  await writeFile(config, yaml);
  const settings = { DAYWALK_CONFIG: config };
  await backfillHere(scene, { from: '2026-03-01', to: '2026-03-02' }, { environment: settings });
  for (const line of commandLines(page)) await scene.succeed(line.split(' ').slice(1), settings);
});

test('the page shows what each query prints', async () => {
  await expect(await shownPage(page, database)).toMatchFileSnapshot(join(ROOT, 'docs/tables.md'));
});

describe('the dashboard of events', () => {
  test('has queries that run, and find something', async () => {
    const dashboard = JSON.parse(await readFile(join(ROOT, 'deploy/grafana/events.json'), 'utf8'));
    expect(dashboard.panels).toHaveLength(5);
    for (const { title, targets } of dashboard.panels)
      for (const { rawSql } of targets) {
        const sql = rawSql
          .replaceAll('$__timeFrom()', `'2026-03-01T00:00:00Z'`)
          .replaceAll('$__timeTo()', `'2026-03-02T23:59:59Z'`)
          .replaceAll(
            /\$__timeFilter\((\w+)\)/g,
            `$1 between '2026-03-01T00:00:00Z' and '2026-03-02T23:59:59Z'`,
          );
        const rows = await database.query(sql);
        expect([title, rows.length > 0]).toEqual([title, title !== 'Days that are not proven']);
      }
  });
});
