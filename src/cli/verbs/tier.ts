/** `daywalk tier`: moves days that are old enough to a folder or bucket, or brings days back. */
import { systemClock } from '../../clock.ts';
import { EXIT, SettingsError } from '../../errors.ts';
import type { AgeLimit, KeptDay } from '../../model.ts';
import { listMovedDays, type MovedDay } from '../../store/moved-days.ts';
import { counted, formatBytes, formatCount, linesOf } from '../../text.ts';
import { checkStore } from '../../tier/check-store.ts';
import { type MoveReport, moveDays } from '../../tier/move.ts';
import type { TierParts } from '../../tier/moved-log.ts';
import { restoreDays } from '../../tier/restore.ts';
import { type DayToMove, listDaysToMove } from '../../tier/rows.ts';
import { closedRange } from '../chosen-days.ts';
import { claimedByTables } from '../claimed-streams.ts';
import { ageFlag } from '../flags.ts';
import { daySpans, printResult, shortened } from '../terminal/output.ts';
import { moveLimits, withTier } from '../tier-wiring.ts';
import type { Invocation } from '../verb.ts';
import { type Asked, askedOf, withStore } from '../wiring.ts';

const SAY_EVERY_MS = 30_000;

/** Moves, or restores; exit code 3 when days had to stay where they are. */
export async function tierVerb(invocation: Invocation): Promise<number> {
  const asked = askedOf(invocation);
  const { options, settings, names, signal } = asked;
  checkFlags(options);
  const limits = options.restore === true ? [] : limitsOf(asked);
  return withStore(asked, ({ database, log }) =>
    withTier(settings, database, log, async (tier) => {
      let said = systemClock.monotonic();
      const onDay = (days: number) => (done: number) => {
        if (systemClock.monotonic() - said < SAY_EVERY_MS) return;
        said = systemClock.monotonic();
        log.info({ done, days }, options.restore === true ? 'restoring days' : 'moving days');
      };
      if (options.restore === true) {
        const range = closedRange({ to: options.from, ...options }, settings);
        const days = await listMovedDays(database, names, range, signal);
        return restore(asked, tier, days, onDay(days.length));
      }
      const claimed = await claimedByTables(database, settings.tables);
      const due = await listDaysToMove(database, limits, true, signal);
      const days = due.map((day) => ({
        ...day,
        kept: day.kept ?? claimed.get(day.stream) ?? null,
      }));
      return move(asked, tier, days, onDay(days.length));
    }),
  );
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
  { options, signal }: Asked,
  tier: TierParts,
  due: readonly DayToMove[],
  onDay: (done: number) => void,
): Promise<number> {
  const { name } = tier.store;
  if (options.dryRun === true) {
    const kept = due.flatMap(({ stream, day, kept: reason }) =>
      reason === null ? [] : [{ stream, day, reason }],
    );
    const days = due.filter((day) => day.kept === null);
    const document = { dryRun: true, place: name, days, kept };
    printResult(options, document, () => [
      ...describeKept(kept),
      ...describePlan(days, kept, name),
    ]);
    return kept.length === 0 ? EXIT.done : EXIT.gaps;
  }
  if (due.some(({ kept }) => kept === null)) await checkStore(tier.store, signal);
  const report = await moveDays(tier, due, signal, onDay);
  printResult(options, { dryRun: false, place: name, ...report }, () => [
    ...describeKept(report.kept),
    ...describeMoved(report, name),
  ]);
  return report.kept.length === 0 ? EXIT.done : EXIT.gaps;
}

async function restore(
  { options, settings, signal }: Asked,
  tier: TierParts,
  days: readonly MovedDay[],
  onDay: (done: number) => void,
): Promise<number> {
  const { name } = tier.store;
  const dryRun = options.dryRun === true;
  const report = dryRun
    ? { days, kept: [] }
    : await restoreDays(tier, days, settings.recheckDays, signal, onDay);
  const volume = `${counted(report.days.length, 'day')}, ${formatCount(sum(report.days, ({ records }) => records))} records, ${formatBytes(sum(report.days, ({ pages }) => pages.bytes))} of pages`;
  const verb = dryRun ? 'would come back' : 'came back';
  printResult(options, { dryRun, place: name, ...report }, () => [
    ...shortened(daySpans(`${verb}:`, report.days)),
    ...describeKept(report.kept),
    `${report.days.length === 0 ? 'Nothing' : volume} ${verb} from ${name}.`,
  ]);
  return report.kept.length === 0 ? EXIT.done : EXIT.gaps;
}

const sum = <T>(all: readonly T[], of: (one: T) => number): number =>
  all.reduce((total, one) => total + of(one), 0);

const describeKept = (kept: readonly KeptDay[]): string[] => shortened(daySpans('stays:', kept));

const noDay = (kept: readonly KeptDay[]): string =>
  kept.length === 0 ? 'no day is old enough' : 'no day that is old enough is free to go';

function describePlan(
  days: readonly DayToMove[],
  kept: readonly KeptDay[],
  name: string,
): string[] {
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
