/** What this machine does in a second: by it limits in milliseconds are scaled, and figures of two days are compared. */
import { createHash } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withDatabase } from './databases.ts';
import { mustBeWell, runNode } from './program.ts';
import { median, timed } from './statistics.ts';
import { pagesOf, served, type Workload } from './workload.ts';

/** Each in milliseconds: of a start of Node, of a flush to disk, and of a megabyte for the others. */
export interface Yardstick {
  /** `node -e 0`. */
  readonly start: number;
  /** SHA-256. */
  readonly hash: number;
  /** `JSON.parse`. */
  readonly parse: number;
  /** Postgres takes pages in, as `jsonb`, on one connection. */
  readonly insert: number;
  /** A block of 8 kB is written and flushed. */
  readonly flush: number;
}

/** Of the machine for which limits in milliseconds are written as they are: two cores of an AMD EPYC, quiet, on 2026-11-23. */
export const REFERENCE: Yardstick = {
  start: 40.1,
  hash: 0.6,
  parse: 7.49,
  insert: 45.1,
  flush: 0.342,
};

const ROUNDS = 7;
const PAGES: Workload = { days: 1, pagesPerDay: 20, pageLength: 1_000 };
const FLUSHES = 50;
const BLOCK_BYTES = 8_192;

/** Takes it; some seconds. */
export async function measureYardstick(
  postgresUrl: string,
  signal: AbortSignal,
): Promise<Yardstick> {
  const pages = pagesOf(served({ dataset: null }, PAGES), PAGES).flat();
  const megabytes = pages.reduce((sum, page) => sum + page.length, 0) / 1e6;
  const each = async (work: (page: Buffer) => unknown) => {
    for (const page of pages) await work(page);
  };
  return {
    start: await often(() => runNode(['-e', '0'], {}, signal).then(mustBeWell)),
    hash:
      (await often(() => each((page) => createHash('sha256').update(page).digest()))) / megabytes,
    parse: (await often(() => each((page) => JSON.parse(page.toString())))) / megabytes,
    insert: await withDatabase(postgresUrl, { schema: false }, async ({ query }) => {
      await query('create table taken (page jsonb)');
      const insert = (page: Buffer) => query('insert into taken values ($1::text::jsonb)', [page]);
      return (await often(() => each(insert))) / megabytes;
    }),
    flush: await flushes(),
  };
}

async function often(work: () => Promise<unknown>, rounds = ROUNDS): Promise<number> {
  const took: number[] = [];
  for (let round = 0; round < rounds; round++) took.push(await timed(work));
  return median(took);
}

async function flushes(): Promise<number> {
  const path = join(tmpdir(), `daywalk-yardstick-${process.pid}`);
  const file = await open(path, 'w');
  const block = Buffer.alloc(BLOCK_BYTES, 1);
  try {
    return await often(async () => {
      await file.write(block);
      await file.sync();
    }, FLUSHES);
  } finally {
    await file.close();
    await rm(path);
  }
}

/** A limit in milliseconds of the reference, as it is on this machine. */
export function limitHere(
  yardstick: Yardstick,
  at: keyof Yardstick,
  most: number,
): { readonly most: number; readonly text: string } {
  const times = yardstick[at] / REFERENCE[at];
  return { most: most * times, text: `≤ ${most.toLocaleString('en-US')} ms × ${times.toFixed(2)}` };
}

/** In words, for the head of the paper. */
export function describeYardstick(yardstick: Yardstick): string {
  const inASecond = (ms: number): string => {
    const times = 1_000 / ms;
    return times >= 100 ? Math.round(times).toLocaleString('en-US') : times.toFixed(1);
  };
  const { start, hash, parse, insert, flush } = yardstick;
  const did = [
    `starts \`node -e 0\` ${inASecond(start)} times`,
    `digests ${inASecond(hash)} MB by SHA-256`,
    `parses ${inASecond(parse)} MB of JSON in Node`,
    `takes ${inASecond(insert)} MB of pages into Postgres as \`jsonb\` on one connection`,
    `flushes ${inASecond(flush)} blocks to disk`,
  ];
  return `In a second it ${did.join(', ')}.`;
}
