/** Runs in words: what began them and how they ended. */
import type { RunOutcome } from '../errors.ts';
import type { RunRow, RunTrigger } from '../store/runs.ts';
import { type NotInStep, notInStepText } from '../walk/followers.ts';

/** What began a run. */
export const RUN_TRIGGER_WORDS: Readonly<Record<RunTrigger, string>> = {
  schedule: 'by schedule',
  hand: 'by hand',
  backfill: 'backfill',
};

/** How a run ended. */
export const RUN_OUTCOME_WORDS: Readonly<Record<RunOutcome, string>> = {
  done: 'done',
  gaps: 'finished with problems',
  refused: 'the key was refused',
  unavailable: 'gave up',
  interrupted: 'stopped',
  settings: 'the settings are wrong',
  unexpected: 'unexpected error',
};

/** What to do about a key that is refused. */
export const RIGHT_KEY =
  'put the right one into the key file, or into DAYWALK_API_KEY and start the program again';

/** What comes before all else where the last run ended because of its key. */
export const describeRefusal = (last: RunRow | null): string[] =>
  last?.outcome === 'refused'
    ? [`The API refused the key in the last run: first ${RIGHT_KEY}.`]
    : [];

/** What follows the data and failed, as one thing that is wrong. */
export const followerTrouble = (follower: NotInStep) => ({
  text: notInStepText(follower),
  command: 'daywalk doctor',
});
