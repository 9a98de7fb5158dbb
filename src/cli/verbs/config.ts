/** `daywalk config`: every effective setting and where it came from. */

import { EXIT } from '../../errors.ts';
import { describeSettings } from '../../settings/describe.ts';
import { print, printJson } from '../terminal/output.ts';
import type { Invocation } from '../verb.ts';
import { settingsOf } from '../wiring.ts';

/** Prints the settings, secrets masked. */
export async function config(invocation: Invocation): Promise<number> {
  const lines = describeSettings(settingsOf(invocation, []));
  if (invocation.options.json === true) {
    printJson(lines);
    return EXIT.done;
  }
  const shown = lines.map(
    ({ name, value, unset, place }) => [name, value ?? `(${unset})`, place] as const,
  );
  const widths = [0, 1].map((column) =>
    Math.min(40, Math.max(...shown.map((line) => (line[column] ?? '').length))),
  );
  print(
    ...shown.map(([name, value, place]) =>
      `${name.padEnd(widths[0] ?? 0)}  ${value.padEnd(widths[1] ?? 0)}  ${place}`.trimEnd(),
    ),
  );
  return EXIT.done;
}
