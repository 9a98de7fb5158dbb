/** `verify --offline`: every change of what is stored is found and named; an untouched database is sound. */
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { type StoredReport, verifyStored } from '../../src/ledger/verify-stored.ts';
import { type SimulatedExport, simulateExport } from '../support/simulated-export.ts';

/** Some days of seven pages each; several with the bytes of each page. */
const exported = (days: 1 | 4 = 1) =>
  simulateExport(
    { eventsPerDay: 125 },
    { to: `2026-03-0${days}`, pageLength: 20, keepBytes: days > 1 },
  );

let scene: SimulatedExport | undefined;
afterEach(async () => {
  await scene?.close();
  scene = undefined;
});

function check({ database }: SimulatedExport, span = null): Promise<StoredReport> {
  const parts = { database, clock: systemClock };
  return verifyStored(parts, ['events'], span, 2, new AbortController().signal);
}

/** The walk that holds the day, with several pages. */
const BIG = `(select walk_id from daywalk.walks where shown <> 'no' order by pages desc limit 1)`;

/** The findings as text, `walk page: problem`. */
const told = (report: StoredReport) =>
  report.findings.map(({ pageNo, problem }) => `${pageNo ?? 'walk'}: ${problem}`);

const asOwner = (table: string, statement: string) => [
  `alter table daywalk.${table} disable trigger append_only`,
  statement,
  `alter table daywalk.${table} enable trigger append_only`,
];

describe('an untouched export', () => {
  it('is sound, its bytes kept or not, and the ledger has a row for each complete day', async () => {
    scene = await exported(4);
    const report = await check(scene);
    expect(report).toMatchObject({ findings: [], ledger: [], unsealedPages: 0 });
    expect(report.pages).toBeGreaterThanOrEqual(4 * 7);
    expect(report.heads).toMatchObject([{ stream: 'events' }]);
    const days = await scene.server.query<{ day: string }>(
      `select distinct day::text as day from daywalk.ledger order by 1`,
    );
    expect(days.map(({ day }) => day)).toEqual([1, 2, 3, 4].map((day) => `2026-03-0${day}`));
    expect(await scene.server.query('select from daywalk.ledger_check where not ok')).toEqual([]);
    await scene.close();
    scene = await exported();
    expect(await check(scene)).toMatchObject({ findings: [], ledger: [], unsealedPages: 0 });
  });

  it('gets another revision when something else is shown of it, and the row before stays', async () => {
    scene = await exported();
    const ledger = () => scene?.server.query('select * from daywalk.ledger order by entry');
    const before = await ledger();
    await scene.again();
    expect(await ledger()).toEqual(before);
    scene.api.insert([{ text: '{"id":"late"}', time: '2026-03-01T12:00:00Z' }]);
    await scene.again();
    const after = await ledger();
    expect(after?.slice(0, -1)).toEqual(before);
    expect(await check(scene)).toMatchObject({ findings: [], ledger: [] });
  });
});

describe('a change of a page is named', () => {
  it.each([
    [
      'a changed body',
      `update daywalk.pages set body = jsonb_set(body, '{marked}', 'true') where page_no = 3 and walk_id = ${BIG}`,
      ['3: its body is not what was stored'],
    ],
    [
      'another start',
      `update daywalk.pages set start = start + 1 where page_no = 3 and walk_id = ${BIG}`,
      [
        'walk: page 3 does not begin where the page before ends',
        '3: the row beside the body is not what was stored',
      ],
    ],
    [
      'a deleted page',
      `delete from daywalk.pages where page_no = 3 and walk_id = ${BIG}`,
      ['walk: page 3 is missing', '3: the row is gone'],
    ],
    [
      'two pages with each other\u2019s bodies',
      `update daywalk.pages p set body = o.body from daywalk.pages o
        where p.walk_id = ${BIG} and o.walk_id = p.walk_id and p.page_no in (3, 4) and o.page_no = 7 - p.page_no`,
      ['3: its body is that of page 4', '4: its body is that of page 3'],
    ],
    [
      'another byte count of the walk',
      `update daywalk.walks set bytes = bytes + 1 where walk_id = ${BIG}`,
      ['walk: it says'],
    ],
    [
      'another record hash',
      `update daywalk.pages set record_hashes[1] = 1 where page_no = 0 and walk_id = ${BIG}`,
      [
        '0: the row beside the body is not what was stored',
        '0: its hashes are not those of its records',
      ],
    ],
  ])('%s', async (_, statement, expected) => {
    scene = await exported();
    await scene.server.query(statement);
    const found = told(await check(scene));
    for (const problem of expected) expect(found).toContainEqual(expect.stringContaining(problem));
  });

  it('two pages with each other\u2019s numbers', async () => {
    scene = await exported();
    for (const [from, to] of [
      [3, 999],
      [4, 3],
      [999, 4],
    ])
      await scene.server.query(
        `update daywalk.pages set page_no = ${to} where page_no = ${from} and walk_id = ${BIG}`,
      );
    expect(told(await check(scene))).toEqual(
      expect.arrayContaining(['3: its body is that of page 4', '4: its body is that of page 3']),
    );
  });

  it('changed kept bytes', async () => {
    scene = await exported(4);
    await scene.server.query(
      `update daywalk.pages set bytes = set_byte(bytes, 10, 0) where page_no = 3 and walk_id = ${BIG}`,
    );
    expect(told(await check(scene))).toContain('3: the kept bytes are not what was received');
  });

  it.each([
    ['as superseded, though it is shown', `k.day, 'superseded'`],
    ['with another day', `k.day - 1000, 'day'`],
  ])('a walk that is said to be pruned %s', async (_, pruned) => {
    scene = await exported();
    await scene.server.query(
      `with made as (
         insert into daywalk.prunings (stream_id, day, what, walks, pages, records, bytes)
         select w.stream_id, ${pruned}, array[k.walk_id], k.pages, k.records, k.bytes
           from daywalk.walks k join daywalk.windows w on w.window_id = k.window_id where k.walk_id = ${BIG}
         returning pruning_id
       )
       update daywalk.walks set pruning = (select pruning_id from made) where walk_id = ${BIG}`,
    );
    expect(await scene.server.query('select from daywalk.events')).toEqual([]);
    expect(told(await check(scene))).toContain(
      'walk: it is said to be pruned, and no pruning of its day took it',
    );
  });

  it('with stream, day and walk', async () => {
    scene = await exported();
    await scene.server.query(
      `update daywalk.pages set body = '{"data": []}' where page_no = 3 and walk_id = ${BIG}`,
    );
    const [walk] = await scene.server.query<{ id: string }>(`select ${BIG} as id`);
    expect((await check(scene)).findings[0]).toMatchObject({
      stream: 'events',
      day: scene.day,
      walkId: Number(walk?.id),
      shown: true,
    });
  });
});

describe('a change of the ledger is named', () => {
  it.each([
    [
      'an edited row',
      'update daywalk.ledger set records = records + 1 where entry = 2',
      2,
      'the row is not what was appended',
    ],
    [
      'a removed row',
      'delete from daywalk.ledger where entry = 2',
      3,
      'the entry before it is missing',
    ],
    [
      'a rebuilt row',
      `update daywalk.ledger l set records = 7, digest = daywalk.ledger_digest(row(l.stream_id, l.entry, l.day, l.revision, l.walks, l.pages, 7,
         l.bytes, l.pages_sha256, l.walks_sha256, l.marks_sha256, l.appended_at, l.previous, l.digest)::daywalk.ledger) where entry = 2`,
      3,
      'it does not follow the row before',
    ],
  ])('%s', async (_, statement, entry, problem) => {
    scene = await exported(4);
    for (const step of asOwner('ledger', statement)) await scene.server.query(step);
    expect((await check(scene)).ledger).toContainEqual(
      expect.objectContaining({ stream: 'events', entry, problem }),
    );
  });

  it('a removed newest row', async () => {
    scene = await exported();
    const statement =
      'delete from daywalk.ledger where entry = (select max(entry) from daywalk.ledger)';
    for (const step of asOwner('ledger', statement)) await scene.server.query(step);
    expect((await check(scene)).ledger).toHaveLength(1);
  });

  it('a removed newest row whose seals were removed with it', async () => {
    scene = await exported();
    const newest = '(select max(entry) from daywalk.ledger)';
    const removeNewest = async () => {
      for (const step of [
        ...asOwner(
          'seals',
          `delete from daywalk.seals where walk_id = any (array(select unnest(walks) from daywalk.ledger where entry = ${newest}
                              except select unnest(walks) from daywalk.ledger where entry < ${newest}))`,
        ),
        ...asOwner('ledger', `delete from daywalk.ledger where entry = ${newest}`),
      ])
        await scene?.server.query(step);
    };
    scene.api.insert([{ text: '{"id":"late"}', time: '2026-03-01T12:00:00Z' }]);
    await scene.again();
    await removeNewest();
    expect((await check(scene)).ledger).toMatchObject([
      { entry: 1, problem: 'what the views show of the day is something else' },
    ]);
    await removeNewest();
    expect((await check(scene)).ledger).toMatchObject([
      { entry: null, problem: expect.stringContaining('the row was removed') },
    ]);
  });

  it('an edited seal', async () => {
    scene = await exported();
    const statement = `update daywalk.seals set digest = sha256('') where page_no = 0`;
    for (const step of asOwner('seals', statement)) await scene.server.query(step);
    expect((await check(scene)).ledger).toContainEqual(
      expect.objectContaining({ problem: 'the seals of its pages are not what they were' }),
    );
  });

  it.each([
    [
      'a walk that is not shown any more',
      `update daywalk.walks set shown = 'no' where walk_id = ${BIG}`,
    ],
    [
      'a record that is hidden',
      `insert into daywalk.marks (walk_id, page_no, position, day, state, since) select ${BIG}, 1, 2, '2026-03-01', 'hidden', now()`,
    ],
    [
      'a record that is said to be gone',
      `insert into daywalk.marks (walk_id, page_no, position, day, state, since) select ${BIG}, 1, 2, '2026-03-01', 'gone', now()`,
    ],
  ])('%s', async (_, statement) => {
    scene = await exported();
    await scene.server.query(statement);
    expect((await check(scene)).ledger).toContainEqual(
      expect.objectContaining({ problem: 'what the views show of the day is something else' }),
    );
  });

  it.each([
    'update daywalk.ledger set records = 0',
    'delete from daywalk.seals',
    'truncate daywalk.ledger',
  ])('%s is refused', async (statement) => {
    scene = await exported();
    await expect(scene.server.query(statement)).rejects.toThrow('append-only');
  });
});
