/** `daywalk migrate`: brings the schema up. */
import { EXIT } from '../../errors.ts';
import { migrate, newerDatabase, readSchemaState } from '../../store/migrations.ts';
import { print } from '../terminal/output.ts';
import type { Invocation } from '../verb.ts';
import { askedOf, reachDatabase, withLog } from '../wiring.ts';

/** Applies what is pending, or lists it. */
export function migrateVerb(invocation: Invocation): Promise<number> {
  const asked = askedOf(invocation);
  return withLog(asked.settings, async (log, later) => {
    const reached = await reachDatabase(asked, log, 'tables');
    later(reached);
    const state = await readSchemaState(reached.url, asked.settings.statementTimeout);
    if (state.newer.length > 0) throw newerDatabase(state);
    if (state.pending.length === 0) print('The schema is up to date.');
    else if (invocation.options.dryRun === true)
      print(state.pending.map((name) => `would apply ${name}`));
    else print((await migrate(reached.url, log)).map((name) => `applied ${name}`));
    return EXIT.done;
  });
}
