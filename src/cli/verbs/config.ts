/** `daywalk config`: every effective setting and where it came from. */

import { EXIT } from '../../errors.ts';
import { describeSettings } from '../../settings/describe.ts';
import { printResult } from '../terminal/output.ts';
import type { Invocation } from '../verb.ts';
import { askedOf } from '../wiring.ts';

const VALUE_WIDTH = 40;

/** Prints the settings, secrets masked. */
export async function config(invocation: Invocation): Promise<number> {
  const lines = describeSettings(askedOf(invocation, []).settings);
  const shown = lines.map(
    ({ name, value, unset, place }) => [name, value ?? `(${unset})`, place] as const,
  );
  const width = Math.max(...shown.map(([name]) => name.length));
  printResult(invocation.options, lines, () =>
    shown.flatMap(([name, value, place]) => {
      const line = `${name.padEnd(width)}  ${value.padEnd(VALUE_WIDTH)}`;
      // Behind a long value it would stand anywhere.
      return value.length > VALUE_WIDTH
        ? [line, `${' '.repeat(width + VALUE_WIDTH + 4)}${place}`]
        : `${line}  ${place}`;
    }),
  );
  return EXIT.done;
}
