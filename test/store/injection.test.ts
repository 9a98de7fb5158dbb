/** Texts from settings, API and people reach SQL as values only: hostile names, filters, paths, owners, reasons and days. */
import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { readGaps } from '../../src/days/coverage-rows.ts';
import { readDayStory } from '../../src/days/story-rows.ts';
import { acquireLease, failWindow } from '../../src/store/leases.ts';
import { storePage } from '../../src/store/pages.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { runProgram } from '../support/program.ts';
import {
  beginWalk,
  clear,
  EVERYTHING,
  openDatabase,
  pageOfBody,
  planDays,
  registerEvents,
  storing,
  TTL_MS,
} from '../support/store.ts';

const HOSTILE = [
  `'; drop table daywalk.pages; --`,
  `"; drop table daywalk.pages; --`,
  `\\'; select pg_sleep(9); --`,
  `$1`,
  `$$; drop schema daywalk cascade; $$`,
  `%s%I%L`,
  `/*`,
  `x\u2019 or 1=1`,
  `{a,b}`,
  `"\\`,
];

let server: TestDatabase;
let tables: string;

/** But for the view of the stream, which has filters. */
const catalogue = async () =>
  JSON.stringify(
    await server.query(
      `select c.relname, count(a.attname) from pg_class c left join pg_attribute a on a.attrelid = c.oid
        where c.relnamespace = 'daywalk'::regnamespace and not c.relispartition and c.relkind in ('r', 'p', 'v') and c.relname <> 'stream_events' group by 1 order by 1`,
    ),
  );

beforeEach(async () => {
  server ??= await createTestDatabase();
  await clear(server);
  tables = await catalogue();
});

describe.each(HOSTILE)('%j', (text) => {
  it('as a filter, an owner, a reason, a path and a key is stored as it is', async () => {
    const database = openDatabase(server.url);
    const streamId = await planDays(database, ['2026-03-05', '2026-03-06'], {
      filters: { search: text, agent: text },
    });
    const scope = { ...EVERYTHING, streamIds: [streamId] };
    const failed = await acquireLease(database, randomUUID(), text, TTL_MS, scope);
    if (failed === null) throw new Error('nothing is due');
    await failWindow(database, failed, text, 60_000);
    const begun = await beginWalk(database, streamId, text);
    const body = JSON.stringify({ [text]: [{ [text]: text }] });
    const contract = { recordsPath: [text], totalPath: [text, text], relationPath: null };
    await storePage(
      storing(database, begun.window),
      begun.checkpoint,
      pageOfBody(0, body),
      contract,
    );

    const [stored] = await server.query(
      `select s.filters ->> 'search' as filter, w.last_error as reason, k.records_path as path,
              p.body #>> array[$1, '0', $1] as value
         from daywalk.streams s
         join daywalk.windows w on w.stream_id = s.stream_id and w.last_error is not null
        cross join daywalk.walks k join daywalk.pages p on p.walk_id = k.walk_id`,
      [text],
    );
    expect(stored).toEqual({ filter: text, reason: text, path: [text], value: text });
    expect(
      await server.query('select from daywalk.windows where lease_owner = $1', [text]),
    ).toHaveLength(1);
    expect(await catalogue()).toBe(tables);
  });

  it('as the name of a stream is refused by the database too, and finds nothing', async () => {
    const database = openDatabase(server.url);
    await expect(registerEvents(database, { name: text })).rejects.toThrow(/23514/);
    expect(await readGaps(database, [text])).toEqual([]);
    expect(await readDayStory(database, text, '2026-03-05')).toMatchObject({ closesAt: null });
    expect(await catalogue()).toBe(tables);
  });
});

it('days and names on the command line are refused before any SQL (exit code 2)', async () => {
  for (const args of [
    ['backfill', '--from', HOSTILE[0] ?? '', '--to', '2026-03-05'],
    ['backfill', '--from', '2026-03-05', '--to', '2026-03-05', '--stream', HOSTILE[0] ?? ''],
  ]) {
    const environment = {
      DAYWALK_API_URL: 'http://127.0.0.1:9',
      DAYWALK_API_KEY: 'key-of-the-test',
      DATABASE_URL: server.url,
    };
    expect(await runProgram(args, { environment })).toMatchObject({ code: 2, stdout: '' });
  }
  expect(await catalogue()).toBe(tables);
});
