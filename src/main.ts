#!/usr/bin/env node
/** The program: obeys its command line until a signal stops it, and exits when all that it says is written. The only place that exits. */
import './cli/heap.ts';
import { obey, tell } from './cli/command-line.ts';
import { systemClock } from './clock.ts';
import { EXIT, InterruptedError } from './errors.ts';

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

/** Waits until a reader has taken everything, or is gone: to exit would cut off what a pipe did not hold. */
function written(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => {
    stream.write('', () => resolve());
  });
}

// Node would print what nobody catches as it is, with every secret in it.
for (const event of ['uncaughtException', 'unhandledRejection'] as const)
  process.on(event, (error: unknown) => process.exit(tell(error)));

let lost: NodeJS.ErrnoException | undefined;
process.stdout.on('error', (error) => {
  lost ??= error;
});
process.stderr.on('error', () => {});
let code = await obey(process.argv.slice(2), listenForSignals());
await written(process.stdout);
// A reader that goes away (`daywalk status | head`) is no error; half a result on a full disk would pass for all of it.
if (lost !== undefined && lost.code !== 'EPIPE') {
  process.stderr.write(`daywalk: the result could not be written to stdout (${lost.code})\n`);
  code ||= EXIT.settings;
}
await written(process.stderr);
process.exit(code);
