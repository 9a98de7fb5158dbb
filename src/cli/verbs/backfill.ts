/** `daywalk backfill`: plans and walks a range of days that a person asked for. */

import { EXIT } from '../../errors.ts';
import { type BackfillStep, PRUNED, TIERED } from '../../plan/backfill.ts';
import { counted } from '../../text.ts';
import { type BackfillRequest, backfill, previewBackfill } from '../../walk/run.ts';
import { closedRange } from '../chosen-days.ts';
import { watched, withExport } from '../pass.ts';
import { columns, printResult } from '../terminal/output.ts';
import type { Invocation } from '../verb.ts';
import { exportOptions } from '../walk-wiring.ts';
import { type Asked, askedOfApi, withStore } from '../wiring.ts';

/** Walks the range, or prints what it would walk. */
export function backfillVerb(invocation: Invocation): Promise<number> {
  const asked = askedOfApi(invocation);
  // Before anything is opened: a slip of the finger is told at once.
  const request = requestOf(asked);
  const options = { ...exportOptions(asked.settings), streams: asked.streams };
  if (asked.options.dryRun === true)
    return withStore(asked, async ({ database }) => {
      const steps = await previewBackfill(database, options, request);
      printResult(asked.options, steps, () => describeSteps(steps));
      return EXIT.done;
    });
  return withExport(asked, 'tables', async (session) => {
    const { database, parts, signal, log } = session;
    const steps = await previewBackfill(database, options, request);
    for (const [why, told] of LEFT_OUT) {
      const days = steps.filter(({ reason }) => reason === why).length;
      if (days > 0) log.warn(`${counted(days, 'day')} of the range ${told}`);
    }
    return watched(session, (onEvent) => backfill(parts, options, request, signal, onEvent));
  });
}

/** Days that are skipped because they are not kept here any more, in words. */
const LEFT_OUT = [
  [PRUNED, 'pruned: never walked again'],
  [TIERED, 'moved to the tier: daywalk tier --restore brings them back'],
] as const;

function requestOf({ options, settings }: Asked): BackfillRequest {
  const only = options.only as BackfillRequest['only'];
  return {
    ...closedRange(options, settings),
    newestFirst: options.newestFirst === true,
    ...(only !== undefined && { only }),
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
