/** A command line, obeyed: runs one verb, turns its end into an exit code, and says on stderr why it failed. */
import { CommanderError } from 'commander';
import { DaywalkError, EXIT, exitCodeOf } from '../errors.ts';
import { printableLines } from '../text.ts';
import { redactor } from './process-redactor.ts';
import { readProgram } from './program.ts';

/**
 * Runs the verb that `args` call, and gives the exit code.
 * @param signal aborts when someone asks the program to stop.
 */
export async function obey(args: readonly string[], signal: AbortSignal): Promise<number> {
  let code: number = EXIT.done;
  try {
    await readProgram(signal, (result) => {
      code = result;
    }).parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    // Commander has printed its own message, or the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.settings;
    return tell(error);
  }
}

/** Says on stderr what ends the program, without secrets, and gives the exit code. */
export function tell(error: unknown): number {
  process.stderr.write(printableLines(redactor.redact(explain(error))));
  return exitCodeOf(error);
}

/** One message for people: what is wrong and what to do; a stack only for what nobody foresaw. */
function explain(error: unknown): string {
  if (!(error instanceof DaywalkError))
    return `daywalk: unexpected error, please report it\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`;
  const hint = error.hint === undefined ? '' : `\n${error.hint}`.replaceAll('\n', '\n  ');
  return `daywalk: ${error.message}${hint}\n`;
}
