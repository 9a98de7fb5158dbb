/** `daywalk config`: every effective setting and where it came from. */

import { EXIT } from '../../errors.ts';
import { describeSettings } from '../../settings/describe.ts';
import { columns, printResult } from '../terminal/output.ts';
import type { Invocation } from '../verb.ts';
import { askedOf } from '../wiring.ts';

/** Prints the settings, secrets masked; values last, for some are long. */
export async function config(invocation: Invocation): Promise<number> {
  const lines = describeSettings(askedOf(invocation, []).settings);
  printResult(invocation.options, lines, () =>
    columns(lines.map(({ name, value, unset, place }) => [name, place, value ?? `(${unset})`])),
  );
  return EXIT.done;
}
