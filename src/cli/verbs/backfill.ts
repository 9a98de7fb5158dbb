/** `daywalk backfill`: plans and walks a range of days that a person asked for. */

import { EXIT } from '../../errors.ts';
import type { Day } from '../../model.ts';
import { type BackfillStep, PRUNED, TIERED } from '../../plan/backfill.ts';
import type { Settings } from '../../settings/settings.ts';
import { counted } from '../../text.ts';
import {
  type BackfillRequest,
  backfill,
  type ExportOptions,
  previewBackfill,
} from '../../walk/run.ts';
import { chosenRange } from '../chosen-days.ts';
import { chosen } from '../flags.ts';
import { type ExportSession, watched, withExport } from '../pass.ts';
import { columns, printResult } from '../terminal/output.ts';
import type { Invocation } from '../verb.ts';
import { exportOptions } from '../walk-wiring.ts';
import { apiSettingsOf } from '../wiring.ts';

/** Walks the range, or prints what it would walk. */
export function backfillVerb(invocation: Invocation): Promise<number> {
  // Before anything is opened: a slip of the finger is told at once.
  const request = requestOf(invocation.options, apiSettingsOf(invocation));
  const dryRun = invocation.options.dryRun === true;
  const work = async (session: ExportSession) => {
    const { settings, database, parts } = session;
    const options: ExportOptions = {
      ...exportOptions(settings),
      streams: chosen(settings.streams, invocation.options.stream),
    };
    const steps = await previewBackfill(database, options, request);
    if (!dryRun) {
      for (const [why, told] of LEFT_OUT) {
        const days = steps.filter(({ reason }) => reason === why).length;
        if (days > 0) session.log.warn(`${counted(days, 'day')} of the range ${told}`);
      }
      return watched(invocation, session, (onEvent) =>
        backfill(parts, options, request, invocation.signal, onEvent),
      );
    }
    printResult(invocation.options, steps, () => describeSteps(steps));
    return EXIT.done;
  };
  return withExport(invocation, work, { makes: dryRun ? 'nothing' : 'tables' });
}

/** Days that are skipped because they are not kept here any more, in words. */
const LEFT_OUT = [
  [PRUNED, 'pruned: never walked again'],
  [TIERED, 'moved to the tier: daywalk tier --restore brings them back'],
] as const;

function requestOf(options: Invocation['options'], settings: Settings): BackfillRequest {
  const { from, to } = chosenRange(options, 'closed', settings);
  const only = options.only as BackfillRequest['only'];
  return {
    from: from as Day,
    to: to as Day,
    newestFirst: options.newestFirst === true,
    ...(only === undefined ? {} : { only }),
  };
}

/** One line per window: day, stream, state, what would be done and why. */
function describeSteps(steps: readonly BackfillStep[]): string[] {
  const walks = steps.filter((step) => step.action !== 'skip').length;
  return [
    ...columns(
      steps.map(({ window: { from, to }, stream, state, action, reason }) => {
        return [`${from} to ${to.slice(11)}`, stream, state, action, reason];
      }),
    ),
    `${walks} of ${steps.length} windows would be walked; none was.`,
  ];
}
