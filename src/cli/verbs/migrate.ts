/** `daywalk migrate`: brings the schema up. */
import { EXIT } from '../../errors.ts';
import { migrate, newerDatabase, readSchemaState } from '../../store/migrations.ts';
import { closing } from '../closing.ts';
import { print } from '../terminal/output.ts';
import type { Invocation } from '../verb.ts';
import { openLog, reachDatabase, settingsOf } from '../wiring.ts';

/** Applies what is pending, or lists it. */
export function migrateVerb(invocation: Invocation): Promise<number> {
  const settings = settingsOf(invocation);
  return closing(async (later) => {
    const log = await openLog(settings);
    later(() => log.flush());
    const reached = await reachDatabase(settings, log, invocation.signal, 'tables');
    later(reached.release);
    const state = await readSchemaState(reached.url, settings.statementTimeout);
    if (state.newer.length > 0) throw newerDatabase(state);
    if (state.pending.length === 0) print('The schema is up to date.');
    else if (invocation.options.dryRun === true)
      print(...state.pending.map((name) => `would apply ${name}`));
    else print(...(await migrate(reached.url, log)).map((name) => `applied ${name}`));
    return EXIT.done;
  });
}
