/** `daywalk run`: one catch-up pass. */
import { catchUp } from '../../walk/run.ts';
import { askForDatabase, mayMakeCluster } from '../missing-database.ts';
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
    { makes: mayMakeCluster(invocation) ? 'cluster' : 'tables' },
  );
}
