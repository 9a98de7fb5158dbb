/** Days that became complete, or came to lack records: each told at least once, by one process, many in one message. */
import { beforeEach, expect, it } from 'vitest';
import { appendToLedger } from '../../src/ledger/rows.ts';
import { silentLogger } from '../../src/log.ts';
import { shapeMessage } from '../../src/notify/message.ts';
import { type News, openNews, wordsOf, wordsOfGone } from '../../src/notify/news.ts';
import { openPoster } from '../../src/notify/post.ts';
import { claimDays } from '../../src/notify/rows.ts';
import { openDispatcher } from '../../src/source/dispatcher.ts';
import type { Database } from '../../src/store/database.ts';
import type { TestDatabase } from '../support/database.ts';
import { type HookServer, startHookServer } from '../support/hook-server.ts';
import { letHoursPass, proveTexts, publishNext, textsOf, windowOf } from '../support/publishing.ts';
import { DAY, freshStore, hastyClock, planDays } from '../support/store.ts';

const NEXT = '2026-03-06';
let server: TestDatabase;
let database: Database;
let hook: HookServer;

freshStore((store) => {
  ({ server, database } = store);
});
beforeEach(async () => {
  hook = await startHookServer();
});

function notifier(dayProven = true): News {
  const { origin, host } = new URL(hook.url);
  const dispatcher = openDispatcher({
    address: { origin, prefix: '', host, secure: false, shown: origin },
    tls: {},
    proxy: {},
    connections: 1,
    connectTimeoutMs: 3_000,
  });
  const { post } = openPoster({
    url: hook.url,
    dispatcher,
    clock: hastyClock,
    log: silentLogger,
    what: 'webhook',
  });
  return openNews(
    {
      tell: (words) => post(shapeMessage(words, 'json', 'soc-1', 0)),
      streams: ['events'],
      log: silentLogger,
    },
    dayProven,
  );
}

const told = () =>
  hook.got.map(({ body }) => JSON.parse(body).days.map(({ day }: { day: string }) => day));

async function prove(streamId: number, day: string, ids: readonly number[]): Promise<void> {
  await publishNext(database, streamId, [ids]);
  await appendToLedger(database, { streamId, day });
}

it('what is complete at the beginning is no news; what comes then is told once', async () => {
  const streamId = await planDays(database, [DAY, NEXT]);
  await prove(streamId, DAY, [1]);
  await notifier().begin(database);
  await notifier().tell(database);
  expect(told()).toEqual([]);
  await prove(streamId, NEXT, [2, 3]);
  // A restart begins again, which changes nothing.
  await notifier().begin(database);
  await notifier().tell(database);
  await notifier().tell(database);
  expect(told()).toEqual([[NEXT]]);
  expect(JSON.parse(hook.got[0]?.body ?? '')).toMatchObject({
    event: 'day_proven',
    title: 'daywalk on soc-1: 1 day is complete',
    text: `events ${NEXT}: 2 records`,
    count: 1,
    days: [{ stream: 'events', day: NEXT, records: 2, proof: 'total' }],
  });
});

it('a stream that is new since the beginning has told nothing', async () => {
  await notifier().begin(database);
  await prove(await planDays(database), DAY, [1]);
  await notifier().tell(database);
  expect(told()).toEqual([[DAY]]);
});

it('a day that is published anew is no news', async () => {
  const streamId = await planDays(database);
  await prove(streamId, DAY, [1]);
  await notifier().tell(database);
  await proveTexts(database, await windowOf(database, streamId, DAY), [['{"id": 1}', '{"id": 2}']]);
  await server.query(
    `update daywalk.windows set state = 'complete' where state = 'pending' and proof is not null`,
  );
  expect(
    await server.query('select daywalk.append_to_ledger($1, $2)::int as entry', [streamId, DAY]),
  ).toEqual([{ entry: 2 }]);
  await notifier().tell(database);
  expect(told()).toEqual([[DAY]]);
  const [row] = await server.query('select entry::int from daywalk.told_days');
  expect(row).toEqual({ entry: 2 });
});

it('what nobody heard is told again', async () => {
  await prove(await planDays(database), DAY, [1]);
  hook.answer(500, 500);
  await notifier().tell(database);
  await notifier().tell(database);
  await notifier().tell(database);
  expect(told()).toEqual([[DAY], [DAY], [DAY]]);
});

it('of two processes one tells; a killed one is not waited for for ever', async () => {
  await prove(await planDays(database), DAY, [1]);
  const claims = await Promise.all([
    claimDays(database, ['events']),
    claimDays(database, ['events']),
  ]);
  expect(claims.map((places) => places.length).sort()).toEqual([0, 1]);
  await notifier().tell(database);
  expect(told()).toEqual([]);
  await server.query(
    `update daywalk.told_days set telling_until = clock_timestamp() - interval '1 second'`,
  );
  await notifier().tell(database);
  expect(told()).toEqual([[DAY]]);
});

it('records that the source does not show any more are told once, however few, also where days are not', async () => {
  const streamId = await planDays(database);
  await prove(
    streamId,
    DAY,
    Array.from({ length: 700 }, (_, id) => id),
  );
  await notifier(false).tell(database);
  for (const left of [691, 691, 690, 690]) {
    await letHoursPass(database, 2);
    const texts = textsOf(Array.from({ length: left }, (_, id) => id));
    await proveTexts(database, await windowOf(database, streamId, DAY), [texts]);
    await server.query(
      `update daywalk.windows set state = 'complete' where state = 'pending' and proof is not null`,
    );
    await appendToLedger(database, { streamId, day: DAY });
    await notifier(false).tell(database);
    await notifier(false).tell(database);
  }
  expect(hook.got.map(({ body }) => JSON.parse(body))).toMatchObject([
    {
      event: 'records_gone',
      title: 'daywalk on soc-1: a source does not show some records of 1 day any more',
      text: `events ${DAY}: 9 of 700 records\nThey are kept (gone_since in daywalk.events). Find out who deleted them.`,
      count: 1,
      days: [{ stream: 'events', day: DAY, lost: 9, records: 700 }],
    },
    { event: 'records_gone', days: [{ lost: 1 }] },
  ]);
});

it('of records that are gone it is told, also where the ledger has the day later, or never; those that came back are no news', async () => {
  const streamId = await planDays(database);
  await publishNext(database, streamId, [[1, 2, 3]]);
  await notifier(false).tell(database);
  const lose = async (...left: readonly number[]) => {
    await letHoursPass(database, 2);
    await proveTexts(database, await windowOf(database, streamId, DAY), [textsOf(left)]);
  };
  for (const left of [[1], [1, 2], [1, 2]]) await lose(...left);
  await notifier(false).tell(database);
  expect(JSON.parse(hook.got[0]?.body ?? '')).toMatchObject({ days: [{ day: DAY, lost: 1 }] });
  for (const left of [[1], [1], [1, 2, 3]]) await lose(...left);
  await notifier(false).tell(database);
  expect(hook.got).toHaveLength(1);
});

it('many days are one message, in which some are named', async () => {
  const streamId = await planDays(database);
  await prove(streamId, DAY, [1]);
  await server.query(
    `with more as (
       insert into daywalk.ledger (stream_id, entry, day, revision, walks, pages, records, bytes, pages_sha256, walks_sha256, marks_sha256, appended_at, previous, digest)
       select stream_id, entry + n, day + n, 1, walks, pages, records, bytes, pages_sha256, walks_sha256, marks_sha256, appended_at, previous, digest
         from daywalk.ledger, generate_series(1, 1233) as n returning stream_id, day
     )
     insert into daywalk.days (stream_id, day, records, gone, lost, pages, bytes, revision) select stream_id, day, 7, 0, 0, 1, 1, 1 from more`,
  );
  await notifier().tell(database);
  const [message] = hook.got.map(({ body }) => JSON.parse(body));
  expect(message).toMatchObject({
    title: 'daywalk on soc-1: 1,234 days are complete',
    count: 1234,
  });
  expect(message.days).toHaveLength(100);
  const lines = message.text.split('\n');
  expect(lines).toHaveLength(11);
  expect(lines.slice(-2)).toEqual([
    'events 2026-03-14: 7 records',
    '… and 1,224 more; `daywalk status` shows all.',
  ]);
});

it('says where all days are that lost records, which no calendar shows', () => {
  const day = { stream: 'events', day: DAY, lost: 1, records: 7 };
  const { lines } = wordsOfGone(Array(11).fill(day), 12);
  expect(lines.at(-2)).toBe('… and 2 more; `daywalk.publications` shows all.');
});

it('is nothing urgent', () => {
  expect(wordsOf([], 0).urgent).toBe(false);
});
