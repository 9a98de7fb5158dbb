/** `daywalk completion`: the script that completes verbs and options in a shell. */
import { EXIT, SettingsError } from '../../errors.ts';
import { completionScript, SHELLS } from '../completion.ts';
import { print } from '../terminal/output.ts';
import type { Verb, VerbRow } from '../verb.ts';

/** The verb, which prints the script of a shell for these verbs. */
export function completionOf(table: readonly VerbRow[]): Verb {
  return async ({ options }) => {
    const shell = SHELLS.find((one) => one === options.shell);
    if (shell === undefined)
      throw new SettingsError(`there is no completion for ${JSON.stringify(options.shell)}`, {
        hint: `Give ${SHELLS.join(', ')}, such as: source <(daywalk completion bash)`,
      });
    print(...completionScript(shell, table).split('\n'));
    return EXIT.done;
  };
}
