/** Sources that do not heed an end of a range: all days show what stands on others. */
import { expect, it } from 'vitest';
import type { TestDatabase } from '../support/database.ts';
import { freshStore, records } from '../support/store.ts';
import { closedDays, newStream, readResults, runOnce } from './exporting.ts';
import { ImaginedSource } from './imagined-source.ts';

const DAYS = closedDays(4).slice(0, 3);
const [FIRST = ''] = DAYS;

let server: TestDatabase;
freshStore((store) => {
  ({ server } = store);
});

it.each([
  ['end', 'exact'],
  ['end', 'none'],
  ['beginning', 'exact'],
  ['beginning', 'none'],
] as const)(
  'a source that does not heed the %s of a range fails by that name, and soon, totals: %s',
  async (open, totals) => {
    const lists = DAYS.map((day, n) => [day, records(1_000 * (n + 1), 40 - 7 * n)] as const);
    const source: ImaginedSource = new ImaginedSource(Object.fromEntries(lists), {
      totals,
      arrange: (_, __, request) =>
        source.within({
          ...request,
          ...(open === 'end' ? { to: `${DAYS.at(-1)} 23:59:59` } : { from: `${FIRST} 00:00:00` }),
        }),
    });
    const stream = newStream();
    await runOnce({ server, source, stream, since: FIRST, pageLength: 50 });
    const results = await readResults(server, stream);
    const errors = DAYS.map((day) => results.get(day)?.lastError ?? null).filter(
      (error) => error !== null,
    );
    expect(errors.filter((error) => !error.includes(`not heed the ${open} of a range`))).toEqual(
      [],
    );
    expect(errors.length).toBeGreaterThan(1);
    expect(source.asked.length).toBeLessThan(120);
  },
);
