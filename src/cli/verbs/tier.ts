/** `daywalk tier`: moves days that are old enough to a folder or bucket, or brings days back. */
import { EXIT, SettingsError } from '../../errors.ts';
import type { AgedDay, AgeLimit, KeptDay } from '../../model.ts';
import { listMovedDays } from '../../store/moved-days.ts';
import { counted, formatBytes, formatCount, linesOf } from '../../text.ts';
import { type MoveReport, moveDays } from '../../tier/move.ts';
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
import { type Asked, askedOf, type Store, sayingSeldom, withStore } from '../wiring.ts';

/** Moves, or restores; exit code 3 when days had to stay where they are. */
export async function tierVerb(invocation: Invocation): Promise<number> {
  const asked = askedOf(invocation);
  const { options } = asked;
  checkFlags(options);
  const limits = options.restore === true ? [] : limitsOf(asked);
  return withStore(asked, async (store) => {
    const tier = await openTier(store.database, store);
    const { report, lines } =
      options.restore === true ? await restore(store, tier) : await move(store, tier, limits);
    const dryRun = options.dryRun === true;
    printResult(options, { dryRun, place: tier.store.name, ...report }, () => lines);
    return report.kept.length === 0 ? EXIT.done : EXIT.gaps;
  });
}

/** What was done or would be, for programs and in words. */
interface Outcome {
  readonly report: { readonly days: readonly unknown[]; readonly kept: readonly KeptDay[] };
  readonly lines: readonly string[];
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

async function move(
  { database, settings, options, log }: Store,
  tier: TierParts,
  limits: readonly AgeLimit[],
): Promise<Outcome> {
  const claimed = await claimedByTables(database, settings.tables);
  const listed = await listDaysToMove(database, limits, true);
  const due = listed.map((day) => ({ ...day, kept: day.kept ?? claimed.get(day.stream) ?? null }));
  const days = due.filter(({ kept }) => kept === null);
  const { name } = tier.store;
  if (options.dryRun === true) {
    const kept = due.flatMap(({ stream, day, kept: reason }) =>
      reason === null ? [] : [{ stream, day, reason }],
    );
    const lines = [...describeKept(kept), ...describePlan(days, kept, name)];
    return { report: { days, kept }, lines };
  }
  if (days.length > 0) await checkStore(tier.store, tier.signal);
  const say = sayingSeldom(log);
  const report = await moveDays(tier, due, (done) =>
    say({ done, days: due.length }, 'moving days'),
  );
  return { report, lines: [...describeKept(report.kept), ...describeMoved(report, name)] };
}

async function restore(
  { database, names, settings, options, log }: Store,
  tier: TierParts,
): Promise<Outcome> {
  const range = closedRange({ to: options.from, ...options }, settings);
  const moved = await listMovedDays(database, names, range);
  const say = sayingSeldom(log);
  const dryRun = options.dryRun === true;
  const report = dryRun
    ? { days: moved, kept: [] }
    : await restoreDays(tier, moved, settings.recheckDays, (done) =>
        say({ done, days: moved.length }, 'restoring days'),
      );
  const { days, kept } = report;
  const volume = `${counted(days.length, 'day')}, ${formatCount(sum(days, ({ records }) => records))} records, ${formatBytes(sum(days, ({ pages }) => pages.bytes))} of pages`;
  const verb = dryRun ? 'would come back' : 'came back';
  const lines = [
    ...shortened(daySpans(`${verb}:`, days)),
    ...describeKept(kept),
    `${days.length === 0 ? 'Nothing' : volume} ${verb} from ${tier.store.name}.`,
  ];
  return { report, lines };
}

const sum = <T>(all: readonly T[], of: (one: T) => number): number =>
  all.reduce((total, one) => total + of(one), 0);

const describeKept = (kept: readonly KeptDay[]): string[] => shortened(daySpans('stays:', kept));

const noDay = (kept: readonly KeptDay[]): string =>
  kept.length === 0 ? 'no day is old enough' : 'no day that is old enough is free to go';

function describePlan(days: readonly AgedDay[], kept: readonly KeptDay[], name: string): string[] {
  if (days.length === 0) return [`Nothing would move: ${noDay(kept)}.`];
  return [
    ...shortened(daySpans('would move:', days)),
    `${counted(days.length, 'day')} would move to ${name}: ${formatCount(sum(days, ({ records }) => records))} records, ${formatBytes(sum(days, ({ bytes }) => bytes))} received.`,
    'This was a dry run: nothing was changed. The same command without --dry-run does it.',
  ];
}

function describeMoved({ days, kept, emptied }: MoveReport, name: string): string[] {
  if (days.length === 0) return [`Nothing moved: ${noDay(kept)}.`];
  const pages = sum(days, (day) => day.pages.bytes);
  const events = sum(days, (day) => day.events.bytes);
  return linesOf(
    shortened(daySpans('moved:', days)),
    `${counted(days.length, 'day')} moved to ${name}: ${formatCount(sum(days, ({ records }) => records))} records, ${formatBytes(events)} of them for readers, ${formatBytes(pages)} of pages.`,
    emptied.length > 0 &&
      `Of ${emptied.join(', ')} nothing is here any more: the disk got that space back at once.`,
  );
}
