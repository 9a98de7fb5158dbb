/** `daywalk run`: one catch-up pass. */
import { catchUp } from '../export/run.ts';
import { watched, withExport } from './export-verb.ts';
import type { Invocation } from './verb.ts';
import { exportOptions } from './wiring.ts';

/** Plans, walks what is due and reports. */
export function run(invocation: Invocation): Promise<number> {
  return withExport(invocation, ({ settings, parts, log }) =>
    watched(invocation, log, (onEvent) =>
      catchUp(parts, exportOptions(settings), 'hand', invocation.signal, onEvent),
    ),
  );
}
