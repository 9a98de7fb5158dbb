#!/usr/bin/env node
/** The program: reads the command line, runs one verb, turns its end into an exit code. The only place that exits. */
import './cli/heap.ts';
import { CommanderError } from 'commander';
import { redactor } from './cli/process-redactor.ts';
import { readProgram } from './cli/program.ts';
import { systemClock } from './clock.ts';
import { DaywalkError, EXIT, exitCodeOf, InterruptedError } from './errors.ts';
import { printableLines } from './text.ts';

/** A stop that takes longer than this is cut short: leases end by themselves, checkpoints are safe. */
const GRACE_MS = 4_500;

/** Aborts on the first SIGINT or SIGTERM, leaves at once on the second. */
function listenForSignals(): AbortSignal {
  const interrupted = new AbortController();
  const onSignal = (signal: 'SIGINT' | 'SIGTERM') => {
    if (interrupted.signal.aborted) process.exit(EXIT[signal]);
    // First, so that a progress display is gone before the message comes.
    interrupted.abort(new InterruptedError(signal));
    process.stderr.write('\ndaywalk: stopping; once more leaves at once\n');
    systemClock.timeout(GRACE_MS).addEventListener('abort', () => process.exit(EXIT[signal]));
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  return interrupted.signal;
}

/** One message for people: what is wrong and what to do; a stack only for what nobody foresaw. */
function explain(error: unknown): string {
  if (!(error instanceof DaywalkError))
    return `daywalk: unexpected error, please report it\n${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`;
  const hint = error.hint === undefined ? '' : `\n${error.hint}`.replaceAll('\n', '\n  ');
  return `daywalk: ${error.message}${hint}\n`;
}

async function main(): Promise<number> {
  const signal = listenForSignals();
  let code: number = EXIT.done;
  try {
    await readProgram(signal, (result) => {
      code = result;
    }).parseAsync();
    return code;
  } catch (error) {
    // Commander has printed its own message, or the help that was asked for.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.settings;
    process.stderr.write(printableLines(redactor.redact(explain(error))));
    return exitCodeOf(error);
  }
}

/** Waits until a reader has taken everything, or is gone: to exit would cut off what a pipe did not hold. */
function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write('', () => resolve());
  });
}

let lost: NodeJS.ErrnoException | undefined;
process.stdout.on('error', (error) => {
  lost ??= error;
});
process.stderr.on('error', () => {});
let code = await main();
await written(process.stdout);
// A reader that goes away (`daywalk status | head`) is no error; half a result on a full disk would pass for all of it.
if (lost !== undefined && lost.code !== 'EPIPE') {
  process.stderr.write(`daywalk: the result could not be written to stdout (${lost.code})\n`);
  code ||= EXIT.settings;
}
await written(process.stderr);
process.exit(code);
