/** Every command and every query of README.md runs, in the order in which they stand there, and then the commands of docs/verbs.md; months are shorter here. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';
import { lastDays } from '../chaos/setups.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { dayAgo } from '../support/days.ts';
import { API_KEY, startProgram } from '../support/program.ts';
import { runHere } from '../support/program-here.ts';
import { blocks, commandLines, paper } from './markdown.ts';

const readme = paper('README.md');
const lines = [readme, paper('docs/verbs.md')].flatMap(commandLines);
const verbs = lines.filter((line) => line.startsWith('daywalk '));

/** What no test can run: it changes the checkout or the account. */
const BY_HAND = /^(?:npm |export |cat > secrets\/api_key$|chmod )/;

/** How far the backfills of the pages go. */
const MONTH_END = '2026-10-31';

let api: Simulator;
let database: TestDatabase;
let environment: Record<string, string>;

beforeAll(async () => {
  api = await startSimulator({ key: API_KEY, seed: 'readme', eventsPerDay: 40 });
  database = await createTestDatabase();
  environment = {
    DAYWALK_API_URL: api.url,
    DAYWALK_API_KEY: API_KEY,
    DATABASE_URL: database.url,
    // A run without it goes back a week.
    DAYWALK_SINCE: dayAgo(1),
    // Not the port of a worker that may run on this machine.
    DAYWALK_STATUS_LISTEN: '127.0.0.1:0',
    // No day closes between two commands.
    DAYWALK_SETTLE: lastDays(1).settle,
  };
});

afterAll(async () => {
  await api.close();
});

test('each command line is run here, or is known to be run by hand', () => {
  expect(lines.filter((line) => !line.startsWith('daywalk ') && !BY_HAND.test(line))).toEqual([]);
  expect(verbs.length).toBeGreaterThan(5);
});

describe('commands', () => {
  test.each(verbs)('%s', async (line) => {
    const args = line.replaceAll(MONTH_END, '2026-10-02').split(' ').slice(1);
    if (args[0] === 'worker') {
      const worker = startProgram(args, { environment });
      await worker.saying(/waiting for the next tick/);
      worker.kill('SIGTERM');
      expect(await worker.ended).toMatchObject({ code: 143 });
      return;
    }
    const ended = await runHere(args, { environment });
    expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 0 });
    expect(ended.stdout).not.toBe('');
  });
});

describe('queries', () => {
  const queries = blocks(readme, 'sql');

  test.each(queries)('%s', async (query) => {
    expect((await database.query(query)).length).toBeGreaterThan(0);
  });

  test('the views have the columns that the table of views names', async () => {
    const named = readme.text.matchAll(/^\| `daywalk\.(\w+)` \| ([^|]+)\|$/gm);
    for (const [, view = '', says = ''] of named) {
      const columns = await database.query<{ name: string }>(
        `select column_name as name from information_schema.columns
          where table_schema = 'daywalk' and table_name = $1`,
        [view],
      );
      expect(columns, view).not.toEqual([]);
      const words = [...says.matchAll(/`(\w+)`/g)].map(([, word]) => word);
      const known = [...columns.map(({ name }) => name), 'events', 'coverage', 'smart'];
      expect(words.filter((word) => !known.includes(word ?? ''))).toEqual([]);
    }
  });
});
