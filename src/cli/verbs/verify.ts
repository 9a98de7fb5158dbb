/** `daywalk verify`: stored windows against the source, page by page if asked, or against their own digests offline. */
import { systemClock } from '../../clock.ts';
import { EXIT } from '../../errors.ts';
import { comparePages } from '../../ledger/verify-deep.ts';
import { type Compare, lookAtWindow, verifyWindows } from '../../ledger/verify-source.ts';
import { verifyStored } from '../../ledger/verify-stored.ts';
import type { DayRange } from '../../model.ts';
import type { Database } from '../../store/database.ts';
import { listPublishedWindows, type PublishedWindow } from '../../store/evidence/proven.ts';
import { listMovedDays, type MovedDay } from '../../store/moved-days.ts';
import { readStreams, requireUnchanged } from '../../store/streams.ts';
import { checkTieredDays, type TierCheck } from '../../tier/check-days.ts';
import { closedRange } from '../chosen-days.ts';
import { printResult } from '../terminal/output.ts';
import {
  describeStored,
  describeVerdicts,
  isSound,
  storedDocument,
  verdictDocument,
} from '../terminal/verify-text.ts';
import { openMoved, openTier } from '../tier-wiring.ts';
import type { Invocation } from '../verb.ts';
import { openWalking } from '../walk-wiring.ts';
import { type Asked, askedOf, askedOfApi, endedStreams, type Store, withStore } from '../wiring.ts';

/** Compares and prints; changes nothing. Exit code 3 when anything differs, or nothing was compared with the source. */
export function verify(invocation: Invocation): Promise<number> {
  const isOffline = invocation.options.offline === true;
  return isOffline ? againstDigests(invocation) : againstSource(invocation);
}

/** Null: all days. */
function spanOf({ options, settings }: Asked): DayRange | null {
  if (options.from === undefined && options.to === undefined) return null;
  return closedRange(options, settings);
}

function againstSource(invocation: Invocation): Promise<number> {
  const asked = askedOfApi(invocation);
  const { options, settings, streams, names, signal } = asked;
  const span = spanOf(asked);
  return withStore(asked, async (store) => {
    const { database, log } = store;
    await requireUnchanged(database, streams);
    const { parts } = await openWalking(asked, store);
    const windows = await listPublishedWindows(database, names, span);
    const at = (place: PublishedWindow['place']) => windows.filter((one) => one.place === place);
    const [here, tiered] = [at('here'), at('tiered')];
    const deep = options.deep === true;
    const left = { tiered: deep ? 0 : tiered.length, pruned: at('pruned').length };
    log.info({ windows: windows.length, deep, left }, 'comparing with the source');
    const compare = (how: Compare, some: typeof windows, concurrency: number) =>
      verifyWindows(parts, streams, some, how, concurrency, signal, ({ window, state }) => {
        const { stream, from, to } = window;
        log.debug({ stream, from, to, state }, 'compared');
      });
    const since = systemClock.monotonic();
    const moved = deep ? await openMoved(store) : null;
    if (tiered.length > 0) moved?.reach(await listMovedDays(database, names, span));
    const how = moved === null ? lookAtWindow : comparePages(moved);
    // Of an object some megabytes are held at a time.
    const there = deep ? await compare(how, tiered, 1) : [];
    const verdicts = [...there, ...(await compare(how, here, settings.concurrency))];
    const comparison = { verdicts, deep, left, elapsedMs: systemClock.monotonic() - since };
    const before = windows.length === 0 && span && (await isBefore(database, names, span));
    printResult(options, verdictDocument(comparison), () =>
      before
        ? ['Nothing to compare: those days are before the first day of the stream.']
        : describeVerdicts(comparison),
    );
    const areSame = verdicts.every((verdict) => verdict.state === 'same');
    return areSame && verdicts.length > 0 ? EXIT.done : EXIT.gaps;
  });
}

/** Whether a range ends before any of these streams begins. */
async function isBefore(database: Database, names: readonly string[], { to }: DayRange) {
  const known = await readStreams(database, names);
  return known.length > 0 && known.every(({ since }) => since > to);
}

async function againstDigests(invocation: Invocation): Promise<number> {
  const asked = askedOf(invocation);
  const { options, settings, signal } = asked;
  const span = spanOf(asked);
  return withStore(asked, async (store) => {
    const { database } = store;
    // What is stored of a stream that the settings do not define any more is what the views show, too.
    const names = [...asked.names, ...(await endedStreams(asked, database))];
    const parts = { database, clock: systemClock };
    const before = await listMovedDays(database, names, span);
    const report = await verifyStored(parts, names, span, settings.concurrency, signal);
    const moved = await listMovedDays(database, names, span);
    const tier = await checkTier(moved, store);
    const back = before.filter(
      ({ stream, day }) => !moved.some((one) => one.stream === stream && one.day === day),
    );
    const all = { report, moved, tier, back };
    printResult(options, storedDocument(all), () => describeStored(all));
    return isSound(all) ? EXIT.done : EXIT.gaps;
  });
}

/** Reads the days that moved; null: there are none, or no setting says where they are. */
async function checkTier(moved: readonly MovedDay[], store: Store): Promise<TierCheck | null> {
  if (moved.length === 0 || store.settings.tierUrl === undefined) return null;
  return checkTieredDays(await openTier(store.database, store), moved);
}
