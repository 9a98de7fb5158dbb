/** `prune --superseded` spares the halves that a proof rests on: looks ask for them. */
import { expect, it } from 'vitest';
import { secondsOf } from '../../src/plan/split.ts';
import { planPruning, prune } from '../../src/retention/prune.ts';
import type { TestDatabase } from '../support/database.ts';
import { freshStore, records } from '../support/store.ts';
import { closedDays, newStream, readResults, runOnce, sharedDatabase } from '../walk/exporting.ts';
import { ImaginedSource, idOf, secondOf } from '../walk/imagined-source.ts';

let server: TestDatabase;
freshStore((store) => {
  ({ server } = store);
});

it.each([false, true])(
  'a day of which only halves show what comes late is looked at by them, pruned before: %s',
  async (pruned) => {
    const [whole = '', part = ''] = closedDays(2);
    const early = records(3_000, 150).filter((record) => secondOf(record) < 20_000);
    const lists = { [whole]: records(1_000, 61), [part]: early };
    const isLate = (record: string) => idOf(record) >= 5_000;
    const source = new ImaginedSource(lists, {
      arrange: (list, _, request) =>
        secondsOf(request) > 43_200 ? list.filter((record) => !isLate(record)) : list,
    });
    const exporting = {
      server,
      source,
      stream: newStream(),
      since: whole,
      pageLength: 100,
      recheckDays: 7,
    };
    await runOnce({ ...exporting, signal: AbortSignal.abort() }).catch(() => {});
    await server.query(
      `insert into daywalk.learned (stream_id, fact, value, evidence) select stream_id, 'cut_otherwise', 'true', 'another day' from daywalk.streams`,
    );
    await runOnce(exporting);
    if (pruned) {
      const database = sharedDatabase(server);
      const signal = new AbortController().signal;
      const plan = await planPruning(
        database,
        {
          kind: 'superseded',
          limits: [{ stream: exporting.stream.name, olderThanMs: 0 }],
          exported: null,
        },
        signal,
      );
      const report = await prune(database, 'superseded', plan, signal);
      expect(report.days.length).toBeGreaterThan(0);
    }
    for (const [index, day] of [whole, part].entries())
      source.lists.set(`${day} 00:00:00`, [...(lists[day] ?? []), ...records(5_000 + index, 1)]);
    await server.query(
      'update daywalk.windows set due_at = clock_timestamp() where due_at is not null',
    );
    await runOnce(exporting);
    await runOnce(exporting);
    const results = await readResults(server, exporting.stream);
    expect(
      [whole, part].map(
        (day) => `${results.get(day)?.state} ${results.get(day)?.published.length}`,
      ),
    ).toEqual([`complete ${(lists[whole]?.length ?? 0) + 1}`, `complete ${early.length + 1}`]);
  },
);
