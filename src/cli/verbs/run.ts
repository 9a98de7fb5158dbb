/** `daywalk run`: one catch-up pass. */
import { catchUp } from '../../walk/run.ts';
import { watched, withExport } from '../pass.ts';
import type { Invocation } from '../verb.ts';
import { exportOptions } from '../walk-wiring.ts';

/** Plans, walks what is due and reports. */
export function run(invocation: Invocation): Promise<number> {
  return withExport(invocation, (session) =>
    watched(invocation, session, (onEvent) =>
      catchUp(session.parts, exportOptions(session.settings), 'hand', invocation.signal, onEvent),
    ),
  );
}
