/** A day that moves or comes back while processes are killed, one step later each time. */
import { expect } from 'vitest';
import type { Database } from '../../src/store/database.ts';
import type { TierParts } from '../../src/tier/moved-log.ts';
import type { TestDatabase } from '../support/database.ts';
import { Killed, type MemoryStore } from '../support/memory-store.ts';
import { DAY } from '../support/store.ts';
import { openGated } from '../walk/perils.ts';
import { believed, moveAll, moved, partsOf, tabled } from './moving-scene.ts';

/** What a process does that may be killed. */
export type Act = (parts: TierParts) => Promise<unknown>;

/** Where it does that. */
interface Place {
  readonly server: TestDatabase;
  readonly database: Database;
  readonly store: MemoryStore;
}

export const moveOne: Act = (parts) => moveAll(parts, ['events'], [DAY]);

/** Nothing is lost or doubled, and the table has just what Postgres says. */
export async function expectExact(
  { server, store }: Pick<Place, 'server' | 'store'>,
  wanted: Awaited<ReturnType<typeof believed>>,
): Promise<void> {
  expect(await believed(server, store)).toEqual(wanted);
  expect(await tabled(store)).toEqual(await moved(server));
}

/**
 * Does `act` in processes that are killed one step later each time, until one comes through; what each of them left, another
 * one finishes, and `undo` brings it back to where it began.
 * @returns how many steps it takes.
 */
export async function killedAnywhere(
  place: Place,
  dying: (step: number) => TierParts,
  act: Act,
  undo: Act,
): Promise<number> {
  const { server, database, store } = place;
  const before = await believed(server, store);
  for (let step = 1; ; step += 1) {
    const parts = dying(step);
    const ended = await act(parts).then(
      () => true,
      (error: unknown) => {
        if (!(error instanceof Killed)) throw error;
        return false;
      },
    );
    if (parts.database !== database) await parts.database.close();
    if (ended) return step;
    expect(await believed(server, store), `killed at step ${step}`).toEqual(before);
    await act(partsOf(database, store));
    await expectExact(place, before);
    await undo(partsOf(database, store));
    await expectExact(place, before);
  }
}

/** Connections of a process that is killed at a statement: before it, or behind it. */
export function mortalDatabase(url: string, at: number, done: boolean): Database {
  let taken = 0;
  return openGated(url, async (_, act) => {
    taken += 1;
    if (taken > at || (taken === at && !done)) throw new Killed();
    const result = await act();
    if (taken >= at) throw new Killed();
    return result;
  });
}
