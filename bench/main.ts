/** `npm run bench`: measures every case against its floor, prints the tables and writes docs/performance.md. */
import '../src/cli/heap.ts';
import { setMaxListeners } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Bench, Case } from './case.ts';
import { growth } from './cases/growth.ts';
import { latency } from './cases/latency.ts';
import { memory } from './cases/memory.ts';
import { months } from './cases/months.ts';
import { peers } from './cases/peers.ts';
import { planning } from './cases/planning.ts';
import { reading } from './cases/reading.ts';
import { searching } from './cases/search.ts';
import { smallPages } from './cases/small-pages.ts';
import { start } from './cases/start.ts';
import { tables } from './cases/tables.ts';
import { throughput } from './cases/throughput.ts';
import { tier } from './cases/tier.ts';
import { changesSince, figuresOf, keepFigures, readFigures } from './changes.ts';
import { describeMachine } from './machine.ts';
import { type Measured, paperOf, tableOf } from './page.ts';
import { embeddedPostgres, givenPostgres, installedPostgres, type Postgres } from './postgres.ts';
import { describeYardstick, measureYardstick, type Yardstick } from './yardstick.ts';

const CASES: readonly Case[] = [
  throughput,
  latency,
  smallPages,
  memory,
  growth,
  months,
  planning,
  reading,
  tables,
  searching,
  tier,
  start,
  peers,
];

const USAGE = `npm run bench -- [--case NAME]… [--quick] [--dataset FILE]

  --case NAME     only this case (${CASES.map((one) => one.name).join(', ')}); may be given several times
  --quick         small sizes and one round: to see that everything runs, not to measure
  --dataset FILE  records of an NDJSON file, plain or gzip, instead of made ones
  DATABASE_URL    a Postgres to use instead of one of its own; databases are made there, and dropped

All cases in full size write docs/performance.md and, to be compared next time, bench/figures.json.
`;

const root = new URL('../../../', import.meta.url);

interface Chosen {
  readonly cases: readonly Case[];
  readonly quick: boolean;
  readonly dataset: string | null;
}

/** @throws {TypeError} for a command line that it does not understand. */
function readCommandLine(args: readonly string[]): Chosen | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      case: { type: 'string', multiple: true },
      quick: { type: 'boolean', default: false },
      dataset: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  const names = values.case ?? CASES.map((one) => one.name);
  const unknown = names.find((name) => CASES.every((one) => one.name !== name));
  if (unknown !== undefined)
    throw new TypeError(
      `there is no case ${unknown}; there are ${CASES.map((one) => one.name).join(', ')}`,
    );
  if (values.dataset !== undefined && !existsSync(values.dataset))
    throw new TypeError(`there is no file ${values.dataset}`);
  return {
    cases: CASES.filter((one) => names.includes(one.name)),
    quick: values.quick,
    dataset: values.dataset ?? null,
  };
}

/** Runs one case under its limit; what goes wrong in it is told, and the next case is run. */
async function measure(
  one: Case,
  bench: Omit<Bench, 'signal'>,
  stop: AbortSignal,
): Promise<Measured> {
  const began = performance.now();
  const signal = AbortSignal.any([stop, AbortSignal.timeout(one.limitMs)]);
  // Each request of a floor listens to it.
  setMaxListeners(0, signal);
  const outcome = await one.run({ ...bench, signal }).catch((error: unknown) => {
    stop.throwIfAborted();
    const reason = signal.aborted ? `it took longer than ${one.limitMs / 1000} s` : String(error);
    return { failed: reason };
  });
  return { one, outcome, tookMs: performance.now() - began };
}

async function runAll(
  chosen: Chosen,
  postgres: Postgres,
  yardstick: Yardstick,
  stop: AbortSignal,
): Promise<Measured[]> {
  let other: Promise<Postgres | null> | undefined;
  const withLz4 = () => {
    if (postgres.lz4) return Promise.resolve(postgres);
    other ??= installedPostgres();
    return other.then((found) => (found?.lz4 ? found : null));
  };
  const measured: Measured[] = [];
  try {
    for (const one of chosen.cases) {
      const say = (text: string) => process.stderr.write(`${one.name}: ${text}\n`);
      const bench = {
        quick: chosen.quick,
        dataset: chosen.dataset,
        servers: { withLz4 },
        postgres,
        yardstick,
        say,
      };
      const done = await measure(one, bench, stop);
      measured.push(done);
      const { outcome, tookMs } = done;
      const text = 'failed' in outcome ? `failed: ${outcome.failed}` : tableOf(outcome.rows);
      process.stdout.write(`\n## ${one.title} (${(tookMs / 1000).toFixed(0)} s)\n\n${text}\n`);
    }
  } finally {
    await (await other)?.close();
  }
  return measured;
}

/** Only a full run is a measurement that the paper may show. */
function writePaper(
  chosen: Chosen,
  measured: readonly Measured[],
  postgres: Postgres,
  yardstick: Yardstick,
): void {
  if (chosen.quick || chosen.cases.length < CASES.length) return;
  const date = new Date().toISOString().slice(0, 10);
  const kept = new URL('bench/figures.json', root);
  const earlier = readFigures(kept);
  const rows = figuresOf(
    measured.map(({ one, outcome }) => ({
      name: one.name,
      rows: 'failed' in outcome ? [] : outcome.rows,
    })),
  );
  keepFigures(kept, { date, rows });
  const profile = fileURLToPath(new URL('bench/profile.md', root));
  const paper = paperOf(measured, {
    machine: describeMachine(),
    postgres: postgres.what,
    command: chosen.dataset === null ? 'npm run bench' : 'npm run bench -- --dataset FILE',
    date,
    yardstick: describeYardstick(yardstick),
    changes: earlier === null ? null : changesSince(earlier, rows),
    profile: existsSync(profile) ? readFileSync(profile, 'utf8') : null,
  });
  writeFileSync(new URL('docs/performance.md', root), paper);
  process.stdout.write('\nwritten: docs/performance.md, bench/figures.json\n');
}

async function main(): Promise<number> {
  let chosen: ReturnType<typeof readCommandLine>;
  try {
    chosen = readCommandLine(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`bench: ${(error as Error).message}\n\n${USAGE}`);
    return 2;
  }
  if (chosen === 'help') {
    process.stdout.write(USAGE);
    return 0;
  }
  const stop = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.once(name, () => stop.abort(new Error(`stopped by ${name}`)));
  const given = process.env.DATABASE_URL;
  const postgres = await (given === undefined ? embeddedPostgres() : givenPostgres(given));
  try {
    process.stdout.write(`${describeMachine()}\n${postgres.what}\n`);
    const yardstick = await measureYardstick(postgres.url, stop.signal);
    process.stdout.write(`${describeYardstick(yardstick)}\n`);
    const measured = await runAll(chosen, postgres, yardstick, stop.signal);
    writePaper(chosen, measured, postgres, yardstick);
    return measured.some(({ outcome }) => 'failed' in outcome) ? 1 : 0;
  } finally {
    await postgres.close();
  }
}

process.exit(await main());
