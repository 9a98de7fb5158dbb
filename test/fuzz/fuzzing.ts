/** How long and how often inputs are tried: a fast part in `npm test`, minutes of it in `npm run fuzz -- --minutes N`. */
import { appendFileSync } from 'node:fs';
import fc from 'fast-check';
import { inject, test } from 'vitest';
import type { Tried } from './collect.ts';

/** Minutes for each of the targets; 0: the fast part. */
const minutes = Number(process.env.FUZZ_MINUTES ?? 0);
/** No single input may take longer: an expression that backtracks, or a loop over loops, would. */
const LONGEST_INPUT_MS = 1_000;

/** What a target is fed with and must hold. */
export interface Target<T> {
  /** A sentence. */
  readonly name: string;
  readonly input: fc.Arbitrary<T>;
  /** Throws where something does not hold; says how many inputs one value is, if not 1. */
  readonly check: (input: T) => unknown;
  /** Runs of the fast part. */
  readonly runs?: number;
  readonly inputsPerRun?: number;
  /** What is asked over a connection takes longer. */
  readonly remote?: boolean;
}

/** Makes a test of a target. */
export function fuzz<T>({
  name,
  input,
  check,
  runs = 400,
  inputsPerRun = 1,
  remote = false,
}: Target<T>): void {
  const long = minutes > 0;
  const limitMs = minutes * 60_000;
  test(
    name,
    async () => {
      let tried = 0;
      let slowest = 0;
      const property = fc.asyncProperty(input, async (value) => {
        const begin = process.cpuUsage();
        await check(value);
        // Of the processor, because other processes want it too.
        const took = process.cpuUsage(begin).user / 1000;
        slowest = Math.max(slowest, took);
        tried += inputsPerRun;
        if (!remote && took > LONGEST_INPUT_MS) throw new Error(`took ${Math.round(took)} ms`);
      });
      await fc.assert(
        property,
        long
          ? { numRuns: 1e9, interruptAfterTimeLimit: limitMs, markInterruptAsFailure: false }
          : { numRuns: runs },
      );
      const figures = inject('fuzzFigures');
      const came: Tried = { name, tried, slowest };
      if (figures !== undefined) appendFileSync(figures, `${JSON.stringify(came)}\n`);
    },
    limitMs + 60_000,
  );
}
