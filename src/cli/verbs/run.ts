/** `daywalk run`: one catch-up pass. */
import { catchUp } from '../../walk/run.ts';
import { askForDatabase } from '../missing-database.ts';
import { watched, withExport } from '../pass.ts';
import type { Invocation } from '../verb.ts';
import { exportOptions } from '../walk-wiring.ts';
import { askedOfApi } from '../wiring.ts';

/** Plans, walks what is due and reports. */
export async function run(given: Invocation): Promise<number> {
  const asked = askedOfApi(await askForDatabase(given));
  // Where the command line asks for an embedded Postgres, it may not be there yet.
  const makes = asked.options.embedded === true ? 'cluster' : 'tables';
  return withExport(asked, makes, (session) =>
    watched(session, (onEvent) =>
      catchUp(session.parts, exportOptions(session.settings), 'hand', session.signal, onEvent),
    ),
  );
}
