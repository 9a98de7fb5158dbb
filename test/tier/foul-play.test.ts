/** What happens to a folder or bucket behind daywalk's back: nothing is lost, doubled or removed, and a person is told what to do. */
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { openRedactor } from '../../src/redactor.ts';
import { Credentials } from '../../src/source/credentials.ts';
import type { Database } from '../../src/store/database.ts';
import { listMovedDays, type MovedDay } from '../../src/store/moved-days.ts';
import type { TieredPage } from '../../src/tier/day-objects.ts';
import {
  commitBytes,
  DeltaLogError,
  ENGINE,
  type LiveFile,
} from '../../src/tier/delta/delta-actions.ts';
import { DeltaLog } from '../../src/tier/delta/delta-log.ts';
import { cleanUpAlone } from '../../src/tier/moved-log.ts';
import { readObject } from '../../src/tier/object-file.ts';
import { secretsOf } from '../../src/tier/s3/s3-keys.ts';
import { checkPage, putBack } from '../../src/tier/tiered-page-rows.ts';
import type { TestDatabase } from '../support/database.ts';
import { copyOf, createTestDatabase } from '../support/database.ts';
import { changedStore, type MemoryStore } from '../support/memory-store.ts';
import { andAtNight } from '../support/night.ts';
import { publishNext } from '../support/publishing.ts';
import { DAY, openDatabase, planDays } from '../support/store.ts';
import { ANYBODY } from './live-file.ts';
import {
  believed,
  DAYS,
  everything,
  freshTier,
  moveAll,
  moved,
  moveMore,
  partsOf,
  restoreAll,
  sealAll,
  signal,
  tabled,
} from './moving-scene.ts';
import { KEYS } from './s3-store-scene.ts';

let server: TestDatabase;
let database: Database;
let store: MemoryStore;

freshTier((fresh) => {
  ({ server, database, store } = fresh);
});

const WEEK_MS = 7 * 86_400_000;
const LOG = 'events/_delta_log/';
const commitKey = (version: number) => `${LOG}${String(version).padStart(20, '0')}.json`;

async function firstMoved(): Promise<MovedDay> {
  const [first] = await listMovedDays(database, ['events'], { from: DAY, to: DAY });
  if (first === undefined) throw new Error('nothing moved');
  return first;
}

const OWN = { commitInfo: { engineInfo: ENGINE } };

async function firstFile(): Promise<LiveFile> {
  const files = await new DeltaLog(store, systemClock, ANYBODY).files(signal);
  const [file] = files.values();
  if (file === undefined) throw new Error('nothing moved');
  return file;
}

it('the table of another database is told, and stays as it is', async () => {
  await moveAll(partsOf(database, store), ['events'], DAYS.slice(0, 2));
  const before = await tabled(store);
  const second = await createTestDatabase();
  const other = openDatabase(second.url);
  await publishNext(other, await planDays(other, [DAY]), [[1, 2]]);
  await sealAll(other);
  await expect(moveAll(partsOf(other, store), ['events'])).rejects.toThrow(/is another database's/);
  await expect(restoreAll(partsOf(other, store))).rejects.toThrow(/is another database's/);
  expect(await tabled(store)).toEqual(before);
  expect(await moveAll(partsOf(database, store), ['events'])).toMatchObject({ kept: [] });
  expect(await tabled(store)).toEqual(await moved(server));
});

it('a database that was put back from a backup goes on with its table', async () => {
  const before = await believed(server, store);
  await moveAll(partsOf(database, store), ['audit']);
  // As text: JavaScript would round their hashes.
  const pages = await server.query<{ p: string }>(
    'select to_jsonb(p)::text as p from daywalk.pages p',
  );
  await moveAll(partsOf(database, store), ['events'], [DAY]);
  const { streamId } = await firstMoved();
  // The backup knows nothing of the move of this day.
  await server.query(`delete from daywalk.tiered_days where stream_id = ${streamId}`);
  await server.query(
    `update daywalk.walks set pruning = null where pruning in (select pruning_id from daywalk.prunings where stream_id = ${streamId})`,
  );
  await server.query(`delete from daywalk.prunings where stream_id = ${streamId}`);
  await server.query(
    'insert into daywalk.pages select (jsonb_populate_record(null::daywalk.pages, p)).* from unnest($1::jsonb[]) as p on conflict do nothing',
    [pages.map(({ p }) => p)],
  );
  expect(await believed(server, store)).toEqual(before);
  expect(await tabled(store)).not.toEqual(await moved(server));
  await moveAll(partsOf(database, store));
  expect(await believed(server, store)).toEqual(before);
  expect(await tabled(store)).toEqual(await moved(server));
});

it('a day that moved with more after the backup that was put back stays here, and its file in the table', async () => {
  const meanwhile = await copyOf(server);
  await moveMore(openDatabase(meanwhile.url), store);
  const [more] = (await tabled(store)).filter((file) => file.startsWith(`audit ${DAYS[1]}`));
  const parts = partsOf(database, store);
  const { kept } = await moveAll(parts, ['audit']);
  expect(kept).toMatchObject([{ stream: 'audit', day: DAYS[1] }]);
  expect(kept[0]?.reason).toContain('move that away');
  expect(await tabled(store)).toContain(more);
  store.objects.delete(`events/${more?.split(' ')[2]}`);
  expect(await moveAll(parts, ['audit'])).toMatchObject({ kept: [], days: [{ day: DAYS[1] }] });
  expect(await tabled(store)).toEqual(await moved(server));
});

describe('a folder or bucket with another name', () => {
  it('is not taken for one that has nothing of ours', async () => {
    await moveAll(partsOf(database, store), ['events']);
    const before = await tabled(store);
    const copy = changedStore(store, { name: 'a copy' });
    await expect(moveAll(partsOf(database, copy))).rejects.toThrow(
      /a copy has days that moved to memory/,
    );
    expect(await tabled(store)).toEqual(before);
    await server.query(`update daywalk.tiered_days set place = 'a copy'`);
    expect(await moveAll(partsOf(database, copy))).toMatchObject({ kept: [] });
    expect(await tabled(store)).toEqual(await moved(server));
  });
});

describe('a log that is not what was written', () => {
  const logKeys = () => [...store.objects.keys()].filter((key) => key.startsWith(LOG)).sort();

  it.each(
    andAtNight<[string, () => string[]]>(
      [['its end', () => logKeys().slice(-4)]],
      [
        ['all of it', () => logKeys()],
        ['more commits in a row than can be told', () => logKeys().slice(2, 7)],
      ],
    ),
  )('because somebody removed %s is mended', async (_, lost) => {
    await moveAll(partsOf(database, store));
    const before = await believed(server, store);
    expect(logKeys()).toHaveLength(9);
    for (const key of lost()) store.objects.delete(key);
    expect(await tabled(store)).not.toEqual(await moved(server));
    await moveAll(partsOf(database, store));
    expect(await tabled(store)).toEqual(await moved(server));
    expect(logKeys()).toEqual(logKeys().map((_, version) => commitKey(version)));
    expect(await believed(server, store)).toEqual(before);
  });

  it('because a day stands in it twice is mended', async () => {
    await moveAll(partsOf(database, store), ['events'], [DAY]);
    const { path } = await firstFile();
    await restoreAll(partsOf(database, store));
    await moveAll(partsOf(database, store), ['events'], [DAY]);
    const file = await firstFile();
    expect(file.path).not.toBe(path);
    await store.create(commitKey(3), commitBytes([OWN, { add: { ...file, path } }]));
    expect(await tabled(store)).toHaveLength(2);
    await moveAll(partsOf(database, store), ['events'], [DAY]);
    expect(await tabled(store)).toEqual(await moved(server));
  });
});

describe('objects that are gone', () => {
  it('of records come back from the pages', async () => {
    const before = await believed(server, store);
    await moveAll(partsOf(database, store));
    const first = await firstMoved();
    for (const key of [...store.objects.keys()])
      if (key.startsWith(LOG) || key === first.events.key) store.objects.delete(key);
    await expect(moveAll(partsOf(database, store))).rejects.toThrow(/has no whole object/);
    expect((await restoreAll(partsOf(database, store))).kept).toEqual([]);
    expect(await believed(server, store)).toEqual(before);
    await moveAll(partsOf(database, store));
    expect(await believed(server, store)).toEqual(before);
    expect(await tabled(store)).toEqual(await moved(server));
  });

  it('or changed, where no seal tells: what was put back of them does not stay', async () => {
    const before = await everything(server);
    await moveAll(partsOf(database, store));
    let unsealed = 0;
    for (const { pages } of await listMovedDays(database, null, null))
      for await (const some of readObject<TieredPage>(store, pages.key, signal))
        for (const page of some)
          if ((await checkPage(database, page)).matches === null) {
            unsealed += 1;
            await putBack(database, { ...page, duration_ms: page.duration_ms + 1 });
          }
    expect(unsealed).toBeGreaterThan(0);
    await restoreAll(partsOf(database, store));
    expect(await everything(server)).toEqual(before);
  });

  it('all of them: nothing moves into what was emptied', async () => {
    await moveAll(partsOf(database, store), ['events']);
    store.objects.clear();
    await expect(moveAll(partsOf(database, store))).rejects.toThrow(/has no whole object/);
    expect([...store.objects.keys()]).toEqual([]);
  });
});

it('what Postgres says that a day is in is never removed, whatever the log says', async () => {
  const old = { ...systemClock, now: () => Date.now() - 2 * WEEK_MS };
  await moveAll(partsOf(database, store));
  const first = await firstMoved();
  const { stream, day } = first;
  await new DeltaLog(store, old, ANYBODY).commit(
    { partitionValues: { stream, day }, path: null },
    signal,
  );
  await cleanUpAlone(partsOf(database, store));
  expect(store.objects.has(first.events.key)).toBe(true);
  await moveAll(partsOf(database, store));
  expect(await tabled(store)).toEqual(await moved(server));
});

it('keys that were read anew are struck out, too', async () => {
  const redactor = openRedactor();
  const all = ['first', 'second'].map((name) => ({
    accessKeyId: `${name}-access-key`,
    secretAccessKey: `${name}-secret`,
    sessionToken: `${name}-token`,
  }));
  const credentials = new Credentials(redactor, async () => all.shift() ?? KEYS, secretsOf);
  await credentials.renew(await credentials.current());
  expect(redactor.redact('second-access-key second-secret second-token')).toBe('*** *** ***');
});

it('keys that were lent are forgotten when many others have been lent since', async () => {
  const redactor = openRedactor(['of-the-api']);
  let lent = 0;
  const next = async () => {
    lent += 1;
    return { ...KEYS, sessionToken: `token-${lent}` };
  };
  const credentials = new Credentials(redactor, next, secretsOf);
  for (let time = 0; time < 50; time += 1) await credentials.renew(await credentials.current());
  expect(redactor.secrets().length).toBeLessThan(10);
  const inUse = `of-the-api ${KEYS.accessKeyId} ${KEYS.secretAccessKey} token-${lent}`;
  expect(redactor.redact(inUse)).toBe('*** *** *** ***');
});

describe('another engine', () => {
  const entry = (path: string) => ({
    path,
    partitionValues: { stream: 'events', day: DAY },
    size: 1,
    modificationTime: 1,
    dataChange: false,
  });
  const PART = `stream=events/day=${DAY}/part-00000-b8c1a3f0-0000-4000-8000-000000000000-c000.snappy.parquet`;

  it.each(andAtNight(['UPDATE', 'VACUUM'], ['OPTIMIZE', 'DELETE']))(
    'that did %s is noticed',
    async (operation) => {
      await moveAll(partsOf(database, store), ['events'], [DAY]);
      const first = await firstMoved();
      const path = first.events.key.slice(7);
      const changes = {
        OPTIMIZE: [{ add: entry(PART) }, { remove: { path, dataChange: false } }],
        UPDATE: [{ add: entry(PART) }, { remove: { path, dataChange: true } }],
        DELETE: [{ remove: { path, dataChange: true } }],
        VACUUM: [],
      }[operation];
      const info = { commitInfo: { operation, engineInfo: 'Apache-Spark/3.5.1 Delta-Lake/3.2.0' } };
      await store.create(
        commitKey(1),
        Buffer.from([info, ...(changes ?? [])].map((one) => `${JSON.stringify(one)}\n`).join('')),
      );
      const moving = moveAll(partsOf(database, store));
      // What only says that it was there changes nothing.
      if (operation === 'VACUUM') expect((await moving).kept).toEqual([]);
      else await expect(moving).rejects.toThrow(DeltaLogError);
    },
  );
});
