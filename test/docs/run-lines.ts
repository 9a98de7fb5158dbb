/** What the tests that run the commands of pages below docs share: the lines, and the days that a run expects. */
import { lastDays } from '../chaos/setups.ts';
import { dayAgo } from '../support/days.ts';
import { commandLines, paper } from './markdown.ts';

/** No day closes between two commands, and only the newest is expected of a run. */
export const SETTLE = {
  DAYWALK_SETTLE: lastDays(1).settle,
  get DAYWALK_SINCE() {
    return dayAgo(1);
  },
};

/** The command lines of a page that run here, without the name of the program. */
export const linesOf = (path: string) =>
  commandLines(paper(path))
    .flatMap((line) => line.split('; '))
    .filter((line) => line.startsWith('daywalk '))
    .map((line) => line.split(' ').slice(1));
