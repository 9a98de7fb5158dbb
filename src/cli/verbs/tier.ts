/** `daywalk tier`: moves days that are old enough to a folder or bucket, or brings days back. */
import { EXIT, SettingsError } from '../../errors.ts';
import type { AgedDay, AgeLimit, KeptDay } from '../../model.ts';
import { listMovedDays, type MovedDay } from '../../store/moved-days.ts';
import { counted, formatBytes, linesOf } from '../../text.ts';
import { moveDays } from '../../tier/move.ts';
import type { TierParts } from '../../tier/moved-log.ts';
import { checkStore } from '../../tier/object-store.ts';
import { restoreDays } from '../../tier/restore.ts';
import { listDaysToMove } from '../../tier/rows.ts';
import { closedRange } from '../chosen-days.ts';
import { claimedByTables } from '../claimed-streams.ts';
import { ageFlag } from '../flags.ts';
import { daySpans, printResult, shortened } from '../terminal/output.ts';
import { moveLimits, openTier } from '../tier-wiring.ts';
import type { Invocation } from '../verb.ts';
import {
  type Asked,
  askedOf,
  endedStreams,
  type Store,
  sayingSeldom,
  withStore,
} from '../wiring.ts';

/** Moves, or restores; exit code 3 when days had to stay where they are. */
export async function tierVerb(invocation: Invocation): Promise<number> {
  const asked = askedOf(invocation);
  const { options } = asked;
  checkFlags(options);
  const restores = options.restore === true;
  const limits = restores ? [] : limitsOf(asked);
  return withStore(asked, async (store) => {
    const tier = await openTier(store.database, store);
    const report = restores ? await restore(store, tier) : await move(store, tier, limits);
    const dryRun = options.dryRun === true;
    const place = tier.store.name;
    const [would, did, where, why] = restores
      ? ['would come back', 'came back', `from ${place}`, '']
      : ['would move', 'moved', `to ${place}`, ': no day is old enough and free to go'];
    printResult(options, { dryRun, place, ...report }, () =>
      linesOf(
        describe(report, dryRun ? would : did, where, why),
        dryRun &&
          'This was a dry run: nothing was changed. The same command without --dry-run does it.',
      ),
    );
    return report.kept.length === 0 ? EXIT.done : EXIT.gaps;
  });
}

/** What was done, or would be. */
interface Report {
  readonly days: readonly (AgedDay | MovedDay)[];
  readonly kept: readonly KeptDay[];
  /** Months of which nothing is here any more. */
  readonly emptied?: readonly string[];
}

/** @throws {SettingsError} for days where none are asked for, and where the days that come back are not named. */
function checkFlags({ restore, from, to }: Invocation['options']): void {
  if (restore === true && from === undefined)
    throw new SettingsError('flag --restore: nothing says which days come back', {
      hint: 'Give --from and --to.',
    });
  if (restore !== true && (from !== undefined || to !== undefined))
    throw new SettingsError('flags --from and --to name days that come back', {
      hint: 'Give --restore too, or --older-than 90d for the days that move.',
    });
}

/** @throws {SettingsError} where nothing says what may move. */
function limitsOf({ options, settings, streams }: Asked): AgeLimit[] {
  const limits = moveLimits({ ...settings, streams }, ageFlag(options.olderThan));
  if (limits.length > 0) return limits;
  throw new SettingsError('nothing says what may move: tier.after is not set', {
    hint: 'Set tier.after in daywalk.yaml, or give --older-than 90d.',
  });
}

async function move(store: Store, tier: TierParts, limits: readonly AgeLimit[]): Promise<Report> {
  const { database, settings, options, log } = store;
  const claimed = await claimedByTables(database, settings.tables);
  const listed = await listDaysToMove(database, limits, true);
  const due = listed.map((day) => ({ ...day, kept: day.kept ?? claimed.get(day.stream) ?? null }));
  const days = due.filter(({ kept }) => kept === null);
  if (options.dryRun === true) {
    const kept = due.flatMap(({ stream, day, kept: reason }) =>
      reason === null ? [] : [{ stream, day, reason }],
    );
    return { days, kept };
  }
  if (days.length > 0) await checkStore(tier.store, tier.signal);
  const say = sayingSeldom(log);
  return moveDays(tier, due, (done) => say({ done, days: due.length }, 'moving days'));
}

async function restore(store: Store, tier: TierParts): Promise<Report> {
  const { database, names, settings, options, log } = store;
  const range = closedRange({ to: options.from, ...options }, settings);
  const known = [...names, ...(await endedStreams(store, database))];
  const days = await listMovedDays(database, known, range);
  if (options.dryRun === true) return { days, kept: [] };
  const say = sayingSeldom(log);
  return restoreDays(tier, days, settings.recheckDays, (done) =>
    say({ done, days: days.length }, 'restoring days'),
  );
}

/** A line for each span of days, and one for all of them. */
function describe({ days, kept, emptied = [] }: Report, verb: string, where: string, why: string) {
  const records = days.reduce((sum, day) => sum + day.records, 0);
  const bytes = days.reduce((sum, day) => sum + ('pages' in day ? day.pages.bytes : day.bytes), 0);
  const volume = `${counted(records, 'record')}, ${formatBytes(bytes)} of pages`;
  return linesOf(
    shortened(daySpans('stays:', kept)),
    shortened(daySpans(`${verb}:`, days)),
    days.length === 0
      ? `Nothing ${verb} ${where}${why}.`
      : `${counted(days.length, 'day')} ${verb} ${where}: ${volume}.`,
    emptied.length > 0 &&
      `Of ${emptied.join(', ')} nothing is here any more: the disk got that space back at once.`,
  );
}
