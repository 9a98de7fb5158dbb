/** A month of pages that somebody detached: its windows fail, and say so; others are walked as ever. */
import { expect, it } from 'vitest';
import { addDays } from '../../src/plan/days.ts';
import { catchUp } from '../../src/walk/run.ts';
import { OPTIONS } from '../support/exporter.ts';
import { simulateExport } from '../support/simulated-export.ts';

it('fails the windows of its own month, by the statement that attaches it, and no other day', async () => {
  const scene = await simulateExport({ eventsPerDay: 30 });
  const { database } = scene;
  const states = () =>
    database.query<{ day: string; state: string; last_error: string | null }>(
      "select day::text, state, last_error from daywalk.windows where kind = 'day' order by day",
    );
  try {
    await database.query('alter table daywalk.pages detach partition daywalk.pages_2026_03');
    await database.query(
      "update daywalk.windows set due_at = clock_timestamp(), rewalk = true where kind = 'day'",
    );
    const since = addDays(new Date().toISOString().slice(0, 10), -1);
    const options = { ...OPTIONS, since };
    const run = () => catchUp(scene.parts, options, 'schedule', new AbortController().signal);
    await run();
    const [march, newest] = await states();
    const attach = /alter table .* to \([^)]*\)/.exec(march?.last_error ?? '')?.[0];
    expect([march?.state, newest?.state]).toEqual(['failed', 'complete']);
    await database.query(attach ?? '');
    await database.query(
      'update daywalk.windows set due_at = clock_timestamp() where due_at is not null',
    );
    await run();
    expect(await states()).toMatchObject([{ state: 'complete' }, { state: 'complete' }]);
  } finally {
    await scene.close();
  }
});
