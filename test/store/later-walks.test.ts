/** Complete windows later on: what another walk finds to be different, and when they are looked at next. */
import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import { noteUnchanged } from '../../src/store/leases.ts';
import { storePage } from '../../src/store/pages.ts';
import { publishWalk } from '../../src/store/walks.ts';
import { askAgain } from '../../src/store/windows.ts';
import type { TestDatabase } from '../support/database.ts';
import {
  type PageIds,
  publishNext as publishAs,
  textsOf,
  totalProof,
} from '../support/publishing.ts';
import {
  claimDay,
  DAY,
  ENVELOPE,
  freshStore,
  openedWalk,
  pageOf,
  planDays,
  TTL_MS,
} from '../support/store.ts';

let server: TestDatabase;
let database: Database;

freshStore((store) => {
  ({ server, database } = store);
});

const publishNext = (streamId: number, pages: PageIds, recheckDays?: number) =>
  publishAs(database, streamId, pages, {}, recheckDays);

/** The ids that readers see. */
const ids = async () =>
  (
    await server.query<{ id: number }>(
      `select (record ->> 'id')::int as id from daywalk.events order by day, id`,
    )
  ).map(({ id }) => id);

describe('what a later walk finds to be different', () => {
  const again = async (streamId: number, pages: readonly (readonly number[])[]) => {
    await askAgain(database, streamId, [DAY], true);
    return publishNext(streamId, pages);
  };

  it('is noted: records that appeared late, and those that vanished, with where they stood', async () => {
    const streamId = await planDays(database);
    await publishNext(streamId, [
      [1, 2],
      [3, 3],
    ]);
    await again(streamId, [[1, 3, 4, 5]]);
    expect(await ids()).toEqual([1, 3, 4, 5]);
    expect(
      await server.query(
        `select stream, day::text, records::int, walk_id::int, after > interval '0' as late from daywalk.lateness`,
      ),
    ).toEqual([{ stream: 'events', day: DAY, records: 2, walk_id: 2, late: true }]);
    expect(
      await server.query(
        'select stream, day::text, walk_id::int, page_no, position, record from daywalk.source_changes order by page_no, position',
      ),
    ).toEqual([
      { stream: 'events', day: DAY, walk_id: 1, page_no: 0, position: 2, record: { id: 2 } },
      { stream: 'events', day: DAY, walk_id: 1, page_no: 1, position: 2, record: { id: 3 } },
    ]);
  });

  it('is found on pages that begin with the last record of the page before', async () => {
    const streamId = await planDays(database);
    const claim = await claimDay(database, streamId);
    const checkpoint = await openedWalk(database, claim);
    await storePage(
      database,
      claim,
      TTL_MS,
      checkpoint,
      pageOf(0, textsOf([1, 2])),
      ENVELOPE,
      false,
    );
    const second = { ...checkpoint, nextStart: 2, pages: 1, skip: 1 } as const;
    await storePage(
      database,
      claim,
      TTL_MS,
      second,
      pageOf(1, textsOf([2, 3, 4])),
      ENVELOPE,
      false,
    );
    const end = { walkId: checkpoint.walkId, nextStart: 4, pages: 2 };
    await publishWalk(database, claim, end, totalProof(4), 0, 0);
    expect(await ids()).toEqual([1, 2, 3, 4]);
    expect(
      await server.query(`select position::int from daywalk.events order by position`),
    ).toEqual([{ position: 0 }, { position: 1 }, { position: 2 }, { position: 3 }]);
    await again(streamId, [[1, 2, 4]]);
    expect(
      await server.query('select page_no, position, record from daywalk.source_changes'),
    ).toEqual([{ page_no: 1, position: 1, record: { id: 3 } }]);
  });

  it('is nothing where nothing is, also in another order and on other pages', async () => {
    const streamId = await planDays(database);
    await publishNext(streamId, [
      [1, 2],
      [3, 3],
    ]);
    await again(streamId, [[3], [3, 2, 1]]);
    expect(await server.query('select from daywalk.differences')).toEqual([]);
    expect(await server.query('select from daywalk.vanished')).toEqual([]);
  });
});

describe('the next look at a complete window', () => {
  /** Sets how long ago the day closed: the clock cannot be set, so the settle delay is. */
  const closedAgo = (hours: number) =>
    server.query(
      `update daywalk.streams set settle = clock_timestamp() - ($1::date + 1)::timestamp at time zone 'UTC' - make_interval(hours => $2)`,
      [DAY, hours],
    );
  const dueIn = async () =>
    (
      await server.query<{ hours: number | null }>(
        `select round(extract(epoch from due_at - clock_timestamp()) / 3600)::int as hours from daywalk.windows`,
      )
    )[0]?.hours;

  it.each([
    [0, 3, 24],
    [59, 3, 24],
    [61, 3, null],
    [0, 0, null],
    [11, 1, 24],
    [13, 1, null],
  ])('of a day that closed %i hours ago, of %i days: in %s hours', async (hours, days, due) => {
    const streamId = await planDays(database);
    await closedAgo(hours);
    await publishNext(streamId, [[1]], days);
    expect(await dueIn()).toBe(due);
    await server.query('update daywalk.windows set due_at = clock_timestamp()');
    const claim = await claimDay(database, streamId);
    expect(claim).toMatchObject({ state: 'complete', purpose: 'recheck', rewalk: false });
    await noteUnchanged(database, claim, days);
    expect(await dueIn()).toBe(due);
    expect(await server.query('select state, lease_id, attempts from daywalk.windows')).toEqual([
      { state: 'complete', lease_id: null, attempts: 0 },
    ]);
  });
});
