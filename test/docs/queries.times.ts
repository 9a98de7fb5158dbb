/**
 * `npm run times`: what each query of docs/queries.md and docs/tables.md takes at half a million events, written above it.
 * With TIMES_EVENTS, so many events instead, and the times are only printed.
 */
import { writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describeMachine } from '../../bench/machine.ts';
import { median, timed } from '../../bench/statistics.ts';
import type { TestDatabase } from '../support/database.ts';
import { runProgram, temporaryFolder } from '../support/program.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { blocks, type Paper, paper, ROOT } from './markdown.ts';
import { statementsOf } from './shown-queries.ts';

const PAGES = ['docs/queries.md', 'docs/tables.md'];
/** Those of the queries. */
const DAYS = ['2026-03-01', '2026-03-02', '2026-03-03'];
const given = process.env.TIMES_EVENTS;
const EVENTS = Number(given ?? 500_000);
const ROUNDS = 3;
const HOUR_MS = 3_600_000;

/** Exports the days, with the record tables of docs/tables.md. */
async function exportAll({ environment, database }: Scene): Promise<void> {
  const config = join(temporaryFolder(), 'daywalk.yaml');
  writeFileSync(config, blocks(paper('docs/tables.md'), 'yaml')[0] ?? '');
  const ended = await runProgram(['backfill', '--from', DAYS[0] ?? '', '--to', DAYS.at(-1) ?? ''], {
    environment: { ...environment, DAYWALK_CONFIG: config, DAYWALK_PAGE_LENGTH: '1000' },
    longestMs: HOUR_MS,
  });
  expect(ended, ended.stderr).toMatchObject({ code: 0 });
  await database.query('vacuum analyze');
}

/** What a query takes, as it is said; it changes nothing. */
async function timeOf({ pool }: TestDatabase, query: string): Promise<string> {
  const client = await pool.connect();
  const times: number[] = [];
  try {
    for (let round = 0; round < ROUNDS; round++) {
      await client.query('begin');
      times.push(
        await timed(async () => {
          for (const statement of statementsOf(query)) await client.query(statement);
        }),
      );
      await client.query('rollback');
    }
  } finally {
    client.release();
  }
  const ms = median(times);
  return ms < 999.5
    ? `${ms.toPrecision(ms < 9.95 ? 2 : 3).replace(/\.0*$/, '')} ms`
    : `${(ms / 1000).toFixed(1)} s`;
}

/** The page with the time of each query above it, and what was measured. */
async function timedPage(page: Paper, database: TestDatabase, about: string): Promise<string> {
  let { text } = page;
  for (const query of blocks(page, 'sql').filter((query) => !/create role/.test(query))) {
    const plain = query.replace(/^-- [\d.]+ m?s\n/, '');
    text = text.replace(query, `-- ${await timeOf(database, plain)}\n${plain}`);
  }
  expect(text).toMatch(/^Times of the queries: .*$/m);
  return text.replace(/^Times of the queries: .*$/m, () => `Times of the queries: ${about}`);
}

test('the times of the queries', async () => {
  const [load = 0] = loadavg();
  const scene = await setScene({
    seed: 'queries',
    eventsPerDay: Math.ceil(EVENTS / DAYS.length),
    dayVariation: 0,
  });
  const { database } = scene;
  await exportAll(scene);
  const [found] = await database.query<{ events: number; version: string }>(
    `select count(*)::int as events, current_setting('server_version') as version from daywalk.events`,
  );
  const busy =
    load > cpus().length / 2
      ? ` Other programs kept the machine busy meanwhile (a load of ${Math.round(load)}).`
      : '';
  const about = `above each stands the median of ${ROUNDS} at ${found?.events.toLocaleString('en-US')} events on three days, measured by \`npm run times\` on ${new Date().toISOString().slice(0, 10)}: Postgres ${found?.version}, ${describeMachine()}.${busy}`;
  for (const page of PAGES.map(paper)) {
    const text = await timedPage(page, database, about);
    if (given === undefined) writeFileSync(join(ROOT, page.path), text);
    else console.info(text.match(/^(?:-- [\d.]+ m?s|Times of .*)$/gm)?.join('\n'));
  }
});
