/** `daywalk prune`: days that are old enough go; without `--yes` it only says what would. */
import { EXIT, SettingsError } from '../../errors.ts';
import type { AgeLimit } from '../../model.ts';
import { type PrunePlan, type PruneRequest, planPruning, prune } from '../../retention/prune.ts';
import { counted, formatBytes, linesOf } from '../../text.ts';
import { claimedByTables } from '../claimed-streams.ts';
import { ageFlag, flagValue, PATH } from '../flags.ts';
import { daySpans, printResult, shortened } from '../terminal/output.ts';
import type { Invocation } from '../verb.ts';
import { type Asked, askedOf, withStore } from '../wiring.ts';

/** Says what would go, or prunes; exit code 3 when days that are old enough had to stay. */
export async function pruneVerb(invocation: Invocation): Promise<number> {
  const asked = askedOf(invocation);
  const { options, signal, settings } = asked;
  const request = requestOf(asked);
  return withStore(asked, async ({ database }) => {
    const claimed =
      request.kind === 'day' ? await claimedByTables(database, settings.tables) : new Map();
    const plan = await planPruning(database, { ...request, claimed });
    const done = options.yes === true ? await prune(database, request.kind, plan, signal) : null;
    const { days, kept } = done ?? plan;
    const document = { dryRun: done === null, what: request.kind, ...plan, ...done };
    const shown = { ...plan, days, kept };
    printResult(options, document, () => describe(request.kind, shown, done?.emptied ?? null));
    return kept.length === 0 ? EXIT.done : EXIT.gaps;
  });
}

/**
 * What the flags and the settings ask for.
 * @throws {SettingsError} where nothing says what may go.
 */
function requestOf({ options, streams }: Asked): PruneRequest {
  const superseded = options.superseded === true;
  const asked = ageFlag(options.olderThan);
  const limits = streams.flatMap(({ name, retention }): AgeLimit[] => {
    const olderThanMs = asked ?? (superseded ? 0 : retention);
    return olderThanMs === undefined ? [] : [{ stream: name, olderThanMs }];
  });
  if (limits.length === 0)
    throw new SettingsError(
      'nothing says what may go: no retention is set, so all is kept for ever',
      { hint: 'Set retention in daywalk.yaml, or give --older-than 400d.' },
    );
  return {
    kind: superseded ? 'superseded' : 'day',
    limits,
    exported: flagValue('--require-export', options.requireExport, PATH) ?? null,
  };
}

/** @param emptied months of which nothing is kept any more; null: nothing was done yet. */
function describe(kind: PruneRequest['kind'], plan: PrunePlan, emptied: readonly string[] | null) {
  const { days, kept, months } = plan;
  const what = kind === 'day' ? '' : 'superseded walks of ';
  const dry = emptied === null;
  const gone = `${dry ? 'would go' : 'pruned'}: ${what}`.trimEnd();
  const sum = (of: 'pages' | 'records' | 'bytes') =>
    days.reduce((total, day) => total + day[of], 0);
  const size = formatBytes(months.reduce((total, month) => total + month.size, 0));
  const volume = `${counted(sum('records'), 'record')} on ${counted(sum('pages'), 'page')}, ${formatBytes(sum('bytes'))} received${kind === 'day' ? ' with their evidence' : ''}`;
  const lines = [...daySpans(gone, days), ...daySpans('kept:', kept)];
  const whole = months.filter((month) => month.whole).map(({ month }) => month);
  const empty = emptied ?? whole;
  return linesOf(
    shortened(lines),
    days.length === 0
      ? `Nothing ${dry ? 'would go' : 'went'}: no day is old enough and free to go.`
      : `${what}${counted(days.length, 'day')} ${dry ? 'would go' : 'went'}: ${volume}, about ${size} on the disk.`,
    empty.length > 0 &&
      `Of ${empty.join(', ')} nothing is kept: the disk ${dry ? 'would get' : 'got'} that space back at once; what is deleted from other months makes room for new pages.`,
    dry &&
      days.length > 0 &&
      'This was a dry run: nothing was changed. The same command with --yes does it.',
  );
}
