/** `daywalk completion`: the script that completes verbs and options in a shell. */
import { EXIT } from '../../errors.ts';
import { completionScript } from '../completion.ts';
import { print } from '../terminal/output.ts';
import type { Shell, Verb, VerbRow } from '../verb.ts';

/** The verb, which prints the script of a shell for these verbs. */
export function completionOf(table: readonly VerbRow[]): Verb {
  return async ({ options }) => {
    print(completionScript(options.shell as Shell, table).split('\n'));
    return EXIT.done;
  };
}
