/** `daywalk run`: one catch-up pass. */
import { catchUp } from '../export/run.ts';
import { watched, withExport } from './export-verb.ts';
import { exportOptions } from './export-wiring.ts';
import type { Invocation } from './verb.ts';

/** Plans, walks what is due and reports. */
export function run(invocation: Invocation): Promise<number> {
  return withExport(invocation, (session) =>
    watched(invocation, session, (onEvent) =>
      catchUp(session.parts, exportOptions(session.settings), 'hand', invocation.signal, onEvent),
    ),
  );
}
