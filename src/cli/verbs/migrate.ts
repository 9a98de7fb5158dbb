/** `daywalk migrate`: brings the schema up. */
import { EXIT } from '../../errors.ts';
import { migrate, newerDatabase, readSchemaState } from '../../store/migrations.ts';
import { print } from '../terminal/output.ts';
import type { Invocation } from '../verb.ts';
import { openLog, reachDatabase, settingsOf } from '../wiring.ts';

/** Applies what is pending, or lists it. */
export async function migrateVerb(invocation: Invocation): Promise<number> {
  const settings = settingsOf(invocation);
  const log = await openLog(settings);
  const reached = await reachDatabase(settings, log, invocation.signal, 'tables');
  try {
    const state = await readSchemaState(reached.url, settings.statementTimeout);
    if (state.newer.length > 0) throw newerDatabase(state);
    if (state.pending.length === 0) print('The schema is up to date.');
    else if (invocation.options.dryRun === true)
      print(...state.pending.map((name) => `would apply ${name}`));
    else print(...(await migrate(reached.url, log)).map((name) => `applied ${name}`));
    return EXIT.done;
  } finally {
    await reached.release();
    await log.flush();
  }
}
