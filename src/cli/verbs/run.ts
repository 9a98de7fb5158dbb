/** `daywalk run`: one catch-up pass. */
import { catchUp } from '../../walk/run.ts';
import { askForDatabase } from '../missing-database.ts';
import { watched, withExport } from '../pass.ts';
import type { Invocation } from '../verb.ts';
import { exportOptions } from '../walk-wiring.ts';

/** Plans, walks what is due and reports. */
export async function run(given: Invocation): Promise<number> {
  const invocation = await askForDatabase(given);
  return withExport(
    invocation,
    (session) =>
      watched(invocation, session, (onEvent) =>
        catchUp(session.parts, exportOptions(session.settings), 'hand', invocation.signal, onEvent),
      ),
    // Where the command line asks for an embedded Postgres, it may not be there yet.
    { makes: invocation.options.embedded === true ? 'cluster' : 'tables' },
  );
}
