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

/** Statements that change something: between two that only read, all is as it was. */
export const isChange = (statement: string | null): boolean =>
  /\b(insert|update|delete)\b|^\s*select daywalk\.\w+\(/i.test(statement ?? '');

/** Connections of a process that is killed at one of its statements: before it, or behind it. */
export function mortalDatabase(
  url: string,
  at: number,
  done: boolean,
  counts: (statement: string | null) => boolean = () => true,
): Database {
  let taken = 0;
  let dead = false;
  return openGated(url, async (statement, act) => {
    if (!dead && counts(statement)) taken += 1;
    else if (!dead) return act();
    if (dead || (taken === at && !done)) {
      dead = true;
      throw new Killed();
    }
    const result = await act();
    if (taken >= at) {
      dead = true;
      throw new Killed();
    }
    return result;
  });
}
