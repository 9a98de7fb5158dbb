/** The state of the events table as its log tells it, read as far as it is not known. */

import { readObject } from '../object-file.ts';
import type { ObjectStore } from '../object-store.ts';
import { stateOf } from './delta-checkpoint.ts';
import {
  checkpointKey,
  type LogListing,
  listLog,
  readCommit,
  readLastCheckpoint,
} from './delta-listing.ts';
import { DeltaState } from './delta-state.ts';

/** Commits are small: so many are asked for at once. */
const READ_AT_ONCE = 8;

/** The state with the commits behind it; null: what it rests on is not there any more. */
export async function catchUp(
  store: ObjectStore,
  state: DeltaState,
  signal: AbortSignal,
): Promise<DeltaState | null> {
  if (state.version < 0) return null;
  const listing = await listLog(store, state.version, signal);
  if (listing.commits[0] !== state.version) return null;
  return follow(store, state, listing, signal);
}

/** The state as the log tells it: the newest checkpoint, and the commits behind it. */
export async function readState(store: ObjectStore, signal: AbortSignal): Promise<DeltaState> {
  const named = await readLastCheckpoint(store, signal);
  let listing = await listLog(store, named ?? 0, signal);
  if (named !== null && !listing.checkpoints.includes(named))
    listing = await listLog(store, 0, signal);
  const newest = listing.checkpoints.at(-1);
  const state =
    newest === undefined
      ? new DeltaState()
      : await stateOf(newest, readObject(store, checkpointKey(newest), signal));
  return follow(store, state, listing, signal);
}

/** Adds the commits of a listing that are behind a state. */
async function follow(
  store: ObjectStore,
  state: DeltaState,
  { commits, checkpoints }: LogListing,
  signal: AbortSignal,
): Promise<DeltaState> {
  const last = commits.at(-1) ?? -1;
  while (state.version < last) {
    const first = state.version + 1;
    const length = Math.min(READ_AT_ONCE, last - state.version);
    const read = await Promise.all(
      Array.from({ length }, (_, index) => readCommit(store, first + index, signal)),
    );
    read.forEach((actions, index) => {
      state.take(first + index, actions);
    });
  }
  state.checkpoint = Math.max(state.checkpoint, ...checkpoints);
  return state;
}
