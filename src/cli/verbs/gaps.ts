/** `daywalk gaps`: what is missing, and the command that fills it. */

import { type GapRow, readGaps } from '../../days/coverage-rows.ts';
import { describeMissing, mendingOf } from '../../days/gaps.ts';
import { describeRefusal } from '../../days/run-words.ts';
import { EXIT } from '../../errors.ts';
import { dayAt } from '../../plan/days.ts';
import { readLastRun } from '../../store/runs.ts';
import { readStreams } from '../../store/streams.ts';
import { databaseNow } from '../../store/windows.ts';
import { printResult } from '../terminal/output.ts';
import type { Invocation } from '../verb.ts';
import { askedOf, withStore } from '../wiring.ts';

/** Lists the gaps; exit code 3 when there are any. */
export async function gaps(invocation: Invocation): Promise<number> {
  return withStore(askedOf(invocation), async ({ database, names }) => {
    const planned = await readStreams(database, names);
    const unplanned = names.filter((name) => !planned.some((stream) => stream.name === name));
    const now = await databaseNow(database);
    const scheduled = planned.map(({ name, since, until, timeZone }) => ({
      stream: name,
      since,
      until,
      today: dayAt(now, timeZone),
    }));
    const found = await readGaps(database, names);
    const lastRun = await readLastRun(database);
    const commandOf = (gap: GapRow) => mendingOf({ ...gap, from: gap.day, to: gap.day });
    printResult(
      invocation.options,
      found.map((gap) => ({ ...gap, command: commandOf(gap) })),
      () => [...describeRefusal(lastRun), ...describeMissing(unplanned, scheduled, found)],
    );
    return found.length + unplanned.length === 0 ? EXIT.done : EXIT.gaps;
  });
}
