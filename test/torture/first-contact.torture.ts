/** Decent APIs from the first contact on, with the real program: `init`, then a backfill, and nothing set in between. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  type SimulatedRequest,
  type Simulator,
  startSimulator,
} from '../../simulator/simulator.ts';
import { addDays, daysBetween } from '../../src/plan/days.ts';
import { createTestDatabase } from '../support/database.ts';
import { dayAgo } from '../support/days.ts';
import { API_KEY, runProgram, temporaryFolder } from '../support/program.ts';
import { DAY } from './case.ts';
import { decent } from './cases/decent.ts';
import { recordsOf } from './truth.ts';

/** The days of the cases are asked for as the newest ones: `init` looks at yesterday. */
const LAST = '2026-03-03';
const distance = () => Math.round((Date.parse(dayAgo(1)) - Date.parse(LAST)) / 86_400_000);
const moved = (text: string, from: readonly string[], by: number): string =>
  from.reduce((all, day) => all.replaceAll(day, addDays(day, by)), text);

/** The hours behind yesterday are not over that it waits for: it needs `settle` (walk/dates). */
const WAITS = 'kept by the dates of UTC, asked by a clock of UTC+5.5';
const CASES = decent.filter(
  ({ streams, rewalk, name }) => streams === undefined && !rewalk && name !== WAITS,
);

test.each(CASES.map((one) => [one.name, one] as const))('%s', async (_, one) => {
  const { sim, respond } = await one.scene();
  const by = distance();
  // The last first, so that no day is moved twice.
  const ours = daysBetween(addDays(DAY, -5), addDays(LAST, 5));
  const theirs = ours.map((day) => addDays(day, by));
  const world: { api?: Simulator } = {};
  const answer = (request: SimulatedRequest) => {
    const query = Object.fromEntries(
      Object.entries(request.query).map(([name, value]) => [name, moved(value ?? '', theirs, -by)]),
    );
    const given = respond?.({ ...request, query }, world.api as Simulator);
    if (given === undefined || !('body' in given)) return given;
    return { ...given, body: moved(String(given.body), ours, by) };
  };
  world.api = await startSimulator({ ...sim, key: API_KEY, respond: answer });
  const database = await createTestDatabase();
  try {
    const folder = temporaryFolder();
    // Also in the first hour behind midnight.
    const environment = {
      DAYWALK_API_KEY: API_KEY,
      DATABASE_URL: database.url,
      DAYWALK_SETTLE: '0s',
    };
    const options = { folder, environment };
    const init = await runProgram(
      ['init', '--api-url', world.api.url, '--streams', 'events'],
      options,
    );
    expect(init, init.stdout + init.stderr).toMatchObject({ code: 0 });
    const settings = await readFile(join(folder, 'daywalk.yaml'), 'utf8');
    expect(settings).not.toMatch(/^ *(records_path|total_path|page_length|recheck_days):/m);
    const [from, to] = [addDays(DAY, by), addDays(LAST, by)];
    const range = ['--from', from, '--to', to];
    const ended = await runProgram(['backfill', ...range], options);
    expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 0 });
    const [held] = await database.query(
      `select count(*)::int as records, count(*) filter (where e.gone_since is not null)::int as gone,
                (select count(*)::int from daywalk.coverage where state = 'complete' and day between $1 and $2) as days
           from daywalk.events e where day between $1 and $2`,
      [from, to],
    );
    const of = { stream: 'events', resource: 'events', from: DAY, to: LAST } as const;
    expect(held).toEqual({
      records: recordsOf(world.api, of).length,
      gone: 0,
      days: daysBetween(DAY, LAST).length,
    });
  } finally {
    await world.api.close();
    await database.drop();
  }
});
