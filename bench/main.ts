/** `npm run bench`: how long an export takes, against the floor of fetching the same pages and inserting them, in one run. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { request } from 'undici';
import { systemClock } from '../src/clock.ts';
import { backfill } from '../src/export/run.ts';
import { silentLogger } from '../src/log.ts';
import { openSource } from '../src/source/source.ts';
import { Database } from '../src/store/database.ts';
import { startEmbedded } from '../src/store/embedded/embedded.ts';
import { migrate } from '../src/store/migrations.ts';
import { startPageServer } from './page-server.ts';

const DAY = { recordsPerPage: 1_000, pages: 25 };
const DAYS = 8;
const ROUNDS = 3;
const CONCURRENCY = [1, 2, 4, 8];
const FROM = '2026-03-01';
const TO = '2026-03-08';

/** Milliseconds that `work` takes. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

async function parallel(jobs: readonly (() => Promise<unknown>)[], width: number): Promise<void> {
  const queue = [...jobs];
  const worker = async () => {
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) await job();
  };
  await Promise.all(Array.from({ length: width }, worker));
}

/** A database of its own for one measurement. */
async function fresh(adminUrl: string, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  await client.query(`drop database if exists ${name} with (force)`);
  await client.query(`create database ${name}`);
  await client.end();
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  return url.href;
}

/** The same pages fetched and thrown away. */
async function fetchFloor(url: string, bodies: readonly Buffer[], width: number): Promise<number> {
  const step = DAY.recordsPerPage - 1;
  const jobs = Array.from({ length: DAYS }, () => async () => {
    for (const page of bodies.keys()) {
      const answer = await request(`${url}/?start=${page * step}&length=${DAY.recordsPerPage}`);
      await answer.body.arrayBuffer();
    }
  });
  return timed(() => parallel(jobs, width));
}

/** The same pages inserted from memory into a table of the same shape. */
async function insertFloor(
  adminUrl: string,
  bodies: readonly Buffer[],
  width: number,
): Promise<number> {
  const url = await fresh(adminUrl, 'daywalk_floor');
  const pool = new pg.Pool({ connectionString: url, max: width });
  await pool.query(
    'create table pages (walk_id bigint, page_no int, body jsonb, primary key (walk_id, page_no))',
  );
  const version = Buffer.from([1]);
  const jobs = Array.from({ length: DAYS }, (_, day) => async () => {
    for (const [page, body] of bodies.entries())
      await pool.query('insert into pages values ($1, $2, $3::jsonb)', [
        day,
        page,
        Buffer.concat([version, body]),
      ]);
  });
  const took = await timed(() => parallel(jobs, width));
  await pool.end();
  return took;
}

/** The whole export: planned, walked, proven, published. */
async function wholeExport(
  adminUrl: string,
  apiUrl: string,
  width: number,
): Promise<{ ms: number; cpuMs: number }> {
  const url = await fresh(adminUrl, 'daywalk_export');
  await migrate(url);
  const common = { clock: systemClock, log: silentLogger };
  const database = new Database({
    url,
    connections: width + 2,
    statementTimeoutMs: 60_000,
    patienceMs: 5_000,
    ...common,
  });
  const source = openSource({
    baseUrl: apiUrl,
    key: 'bench-key',
    clock: systemClock,
    connections: width,
  });
  const cpu = process.cpuUsage();
  const ms = await timed(() =>
    backfill(
      {
        database,
        fetchPage: (page, options) => source.fetchPage(page, options),
        findEnvelope: (body) => source.findEnvelope(body),
        owner: 'bench',
        ...common,
      },
      {
        streams: [{ name: 'events', resource: 'events', filters: {} }],
        since: FROM,
        timeZone: 'UTC',
        settleMs: 0,
        seams: true,
        recheckDays: 0,
        keepBytes: false,
        concurrency: width,
        pageLength: DAY.recordsPerPage,
        leaseTtlMs: 60_000,
        walkAttempts: 4,
      },
      { from: FROM, to: TO, newestFirst: false },
      new AbortController().signal,
    ),
  );
  const { user, system } = process.cpuUsage(cpu);
  await database.close();
  await source.close();
  return { ms, cpuMs: (user + system) / 1000 };
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

async function main(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'daywalk-bench-'));
  const embedded = await startEmbedded({ directory });
  const pages = await startPageServer(DAY);
  // The server has a process of its own, so that its work is not counted as the worker's.
  const child = fork(fileURLToPath(new URL('./serve.js', import.meta.url)), [JSON.stringify(DAY)]);
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  const mb = (pages.bytesPerDay * DAYS) / 1e6;
  process.stdout.write(
    `${DAYS} days, ${pages.bodies.length} pages each, ${mb.toFixed(0)} MB; medians of ${ROUNDS}\n\n`,
  );
  process.stdout.write(
    '| concurrency | export | MB/s | floor: fetch + insert | ratio | worker CPU per MB |\n|---|---|---|---|---|---|\n',
  );
  try {
    for (const width of CONCURRENCY) {
      const rounds = { whole: [] as number[], floor: [] as number[], cpu: [] as number[] };
      for (let round = 0; round < ROUNDS; round++) {
        const floor =
          (await fetchFloor(url, pages.bodies, width)) +
          (await insertFloor(embedded.url, pages.bodies, width));
        const whole = await wholeExport(embedded.url, url, width);
        rounds.floor.push(floor);
        rounds.whole.push(whole.ms);
        rounds.cpu.push(whole.cpuMs / mb);
      }
      const whole = median(rounds.whole);
      const floor = median(rounds.floor);
      process.stdout.write(
        `| ${width} | ${(whole / 1000).toFixed(2)} s | ${((mb * 1000) / whole).toFixed(0)} | ${(floor / 1000).toFixed(2)} s | ${(whole / floor).toFixed(2)} | ${median(rounds.cpu).toFixed(1)} ms |\n`,
      );
    }
  } finally {
    child.kill();
    await pages.close();
    await embedded.release({ untilStopped: true });
    await rm(directory, { recursive: true, force: true });
  }
}

await main();
