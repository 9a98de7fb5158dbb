/** docs/queries.md: each query runs, and the page shows what it prints; `npx vitest run test/docs/queries.test.ts --update` writes it. */
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { backfillHere } from '../support/backfill-here.ts';
import type { TestDatabase } from '../support/database.ts';
import { setScene } from '../support/scene.ts';
import { blocks, paper, ROOT } from './markdown.ts';
import { shownPage } from './shown-queries.ts';

const page = paper('docs/queries.md');
const queries = blocks(page, 'sql');
let database: TestDatabase;

beforeAll(async () => {
  const scene = await setScene({ seed: 'queries', eventsPerDay: 200, dayVariation: 0 });
  ({ database } = scene);
  const record = (time: string, more: string) =>
    `{"timestamp":"${time}","id":1,"agent":{"name":"web-01"},"rule":{"level":3,"description":"late"}${more}}`;
  scene.api.insert([
    record('2026-03-03T08:00:00.000+0000', ',"cloud":{"region":"eu-1"},"note":"a\\u0000b"'),
  ]);
  // One window after the other: by what a window is proven depends on those before it.
  for (const day of ['2026-03-01', '2026-03-02', '2026-03-03'])
    for (const stream of ['events', 'smart-event'])
      await backfillHere(
        scene,
        { from: day, to: day },
        { environment: { DAYWALK_STREAMS: stream } },
      );
  // On one day the source changes afterwards: a record comes, another goes.
  scene.api.insert([record('2026-03-02T09:00:00.000+0000', '')]);
  let gone = 0;
  scene.api.remove(() => gone++ === 0, { from: '2026-03-02 10:00:00', to: '2026-03-02 20:00:00' });
  const again = () =>
    backfillHere(
      scene,
      { from: '2026-03-02', to: '2026-03-02' },
      { only: 'all', environment: { DAYWALK_STREAMS: 'events' } },
    );
  await again();
  // A record is gone when a second walk, an hour later, lacks it too.
  await database.query(`update daywalk.marks set since = since - interval '2 hours'`);
  await again();
});

test('the page shows what each query prints', async () => {
  const text = await shownPage(page, database);
  await expect(text).toMatchFileSnapshot(join(ROOT, 'docs/queries.md'));
});

describe('the role that only reads', () => {
  test('reads the views and nothing else', async () => {
    const [grants = ''] = queries.filter((query) => /create role/.test(query));
    const client = await database.pool.connect();
    const views = (
      await database.query<{ name: string }>(
        `select c.relname as name from pg_class c where c.relnamespace = 'daywalk'::regnamespace and c.relkind = 'v'`,
      )
    ).map(({ name }) => name);
    expect(views.length).toBeGreaterThan(5);
    try {
      // Roles belong to the whole server: this one is gone with the transaction.
      await client.query('begin');
      await client.query(grants);
      await client.query('set local role analyst');
      for (const view of views) await client.query(`select * from daywalk.${view} limit 1`);
      await client.query('savepoint refused');
      await expect(client.query('select count(*) from daywalk.pages')).rejects.toThrow(
        /permission denied/,
      );
      await client.query('rollback to savepoint refused');
      await expect(client.query('delete from daywalk.events')).rejects.toThrow(
        /permission denied|cannot delete/,
      );
    } finally {
      await client.query('rollback');
      client.release();
    }
  });
});
