/** `daywalk why`: the story of a day, and the command that mends it. */

import { type DayStory, readDayStory } from '../../days/story-rows.ts';
import { describeStory, mendingCommand } from '../../days/story-text.ts';
import { EXIT } from '../../errors.ts';
import { linesOf } from '../../text.ts';
import { chosenDay } from '../chosen-days.ts';
import { printResult } from '../terminal/output.ts';
import type { Invocation } from '../verb.ts';
import { askedOf, withFewConnections } from '../wiring.ts';

/** Tells the story of the day in each stream. */
export async function why(invocation: Invocation): Promise<number> {
  const asked = askedOf(invocation);
  const { options, streams } = asked;
  const day = chosenDay(String(options.day), asked.settings);
  return withFewConnections(asked, async ({ database }) => {
    const stories: DayStory[] = [];
    for (const { name } of streams) stories.push(await readDayStory(database, name, day));
    const untold = streams.filter(({ totalPath }) => totalPath === null);
    const document = stories.map((story) => ({
      ...story,
      // For its words alone: programs have the state.
      standing: undefined,
      command: mendingCommand(story),
    }));
    printResult(options, document, () => [
      ...stories.flatMap((story, index) => linesOf(index > 0 && '', describeStory(story))),
      ...untold.map(({ name }) => `${name}: totals are no evidence, as total_path is none`),
    ]);
    return EXIT.done;
  });
}
