/** Whatever a source shows in one walk after another: all that was ever proven stays shown, and what is gone is told. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import { audit, overlooked } from '../support/audit.ts';
import type { TestDatabase } from '../support/database.ts';
import { letHoursPass, proveTexts, windowOf } from '../support/publishing.ts';
import { clear, DAY, freshStore, planDays } from '../support/store.ts';

let server: TestDatabase;
let database: Database;

/** A walk of the day: what it shows, page by page, and the hours since the walk before. */
interface Walked {
  readonly hours: number;
  readonly pages: readonly (readonly string[])[];
}

const hours = fc.constantFrom(0, 0.5, 1, 3);
const pagesOf = (records: readonly string[]) =>
  [records.slice(0, 2), records.slice(2)].filter((page, at) => at === 0 || page.length > 0);

interface ShownRow {
  readonly record: string;
  readonly gone: boolean;
  readonly revision: number;
}

const shown = () =>
  server.query<ShownRow>(
    `select record::text as record, gone_since is not null as gone, revision from daywalk.events order by 1, 2, 3`,
  );

async function play(walks: readonly Walked[], idPath?: readonly string[]): Promise<void> {
  await clear(server);
  const streamId = await planDays(database, [DAY], idPath === undefined ? {} : { idPath });
  const window = await windowOf(database, streamId, DAY);
  for (const { hours: passed, pages } of walks) {
    await letHoursPass(database, passed);
    await proveTexts(database, window, pages);
  }
}

/** When each walk happened. */
const timesOf = (walks: readonly Walked[]): number[] => {
  let now = 0;
  return walks.map(({ hours: passed }) => (now += passed));
};

/**
 * How many copies are gone: as many as were lacked by two walks an hour or more apart, and by all since the first of these.
 * @param lacked by each walk.
 */
function goneOf(lacked: readonly number[], times: readonly number[]): number {
  let most = 0;
  for (let first = 0; first < lacked.length; first += 1) {
    const confirmed = times.slice(first + 1).some((time) => time - (times[first] as number) >= 1);
    if (confirmed) most = Math.max(most, Math.min(...lacked.slice(first)));
  }
  return most;
}

/** All that was proven stays shown, in so many random histories of each kind. */
export function allIsKept(runs: number): void {
  freshStore((store) => {
    ({ server, database } = store);
  });

  describe('records that are their content', () => {
    const record = fc.constantFrom('1', '2', '3', '4').map((id) => `{"id": ${id}}`);
    const walk = fc.record({ hours, pages: fc.array(record, { maxLength: 6 }).map(pagesOf) });

    it('are each shown as often as any walk showed them, and those that two walks lacked are gone', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(walk, { minLength: 1, maxLength: 6 }), async (walks) => {
          await play(walks);
          const times = timesOf(walks);
          const expected: ShownRow[] = [];
          for (const content of new Set(walks.flatMap(({ pages }) => pages.flat()))) {
            const counts = walks.map(
              ({ pages }) => pages.flat().filter((text) => text === content).length,
            );
            const most = counts.map((_, at) => Math.max(...counts.slice(0, at + 1)));
            const gone = goneOf(
              counts.map((count, at) => (most[at] as number) - count),
              times,
            );
            for (let copy = 0; copy < (most.at(-1) as number); copy += 1)
              expected.push({
                record: content,
                gone: copy >= (most.at(-1) as number) - gone,
                revision: 1,
              });
          }
          expected.sort((a, b) =>
            a.record < b.record ? -1 : a.record > b.record ? 1 : Number(a.gone) - Number(b.gone),
          );
          expect(await shown()).toEqual(expected);
          expect(await audit(server)).toEqual([]);
          expect(await overlooked(server)).toEqual([]);
        }),
        { numRuns: runs },
      );
    });
  });

  describe('records that are identified', () => {
    const version = fc.record({ id: fc.constantFrom(1, 2, 3), v: fc.constantFrom(1, 2) });
    const walk = fc.record({
      hours,
      pages: fc
        .uniqueArray(version, { selector: ({ id }) => id })
        .map((list) => pagesOf(list.map(({ id, v }) => `{"v": ${v}, "id": ${id}}`))),
    });
    const idOf = (text: string): number => (JSON.parse(text) as { id: number }).id;

    it('are each shown once, in the newest version, with the older ones beside', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(walk, { minLength: 1, maxLength: 6 }), async (walks) => {
          await play(walks, ['id']);
          const times = timesOf(walks);
          const expected: ShownRow[] = [];
          const old: string[] = [];
          for (const id of [1, 2, 3]) {
            const seen = walks.map(({ pages }) => pages.flat().find((text) => idOf(text) === id));
            const versions = seen
              .filter((text) => text !== undefined)
              .filter((text, at, all) => at === 0 || text !== all[at - 1]);
            const newest = versions.at(-1);
            if (newest === undefined) continue;
            const first = seen.findIndex((text) => text !== undefined);
            const lacked = seen.map((text, at) => (at > first && text === undefined ? 1 : 0));
            expected.push({
              record: newest,
              gone: goneOf(lacked, times) > 0,
              revision: versions.length,
            });
            old.push(...versions.slice(0, -1).map((text, at) => `${text} ${at + 1}`));
          }
          expected.sort((a, b) => (a.record < b.record ? -1 : 1));
          expect(await shown()).toEqual(expected);
          const versions = await server.query<{ version: string }>(
            `select format('%s %s', record, revision) as version from daywalk.record_versions`,
          );
          expect(versions.map((row) => row.version).sort()).toEqual(old.sort());
          expect(await audit(server)).toEqual([]);
          expect(await overlooked(server)).toEqual([]);
        }),
        { numRuns: runs },
      );
    });
  });
}
