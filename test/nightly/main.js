/** `npm run nightly`: what is too long for every change, one part after the other, and a line that says what got worse. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { duration, INTERRUPTED, lineOf, runPart } from './night.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SERVERS = 1_000;

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    minutes: { type: 'string', default: '60' },
    out: { type: 'string', default: join(tmpdir(), 'daywalk-nightly') },
    parts: { type: 'boolean', default: false },
  },
});
const minutes = Number(values.minutes);
if (!(minutes > 0 && minutes <= 600)) fail(`--minutes ${values.minutes}: expected 1 to 600`);
const parts = partsOf(minutes, Math.floor(Date.now() / 86_400_000));
const only = values.only?.split(',') ?? parts.map(({ name }) => name);
const unknown = only.filter((name) => !parts.some((part) => part.name === name));
if (unknown.length > 0) fail(`--only ${unknown}: no such part; --parts lists them`);
if (values.parts)
  for (const { name, command, minutes: limit, writes = 'nothing' } of parts)
    console.info(
      `${name.padEnd(10)} at most ${duration(limit * 60).padEnd(12)} writes ${writes.padEnd(22)} ${command.join(' ')}`,
    );
else await runAll(parts.filter(({ name }) => only.includes(name)));

/** A new part is a row here: its name, the minutes that it may take, and what else `Part` has; `run`: another script than its name. */
function partsOf(soak, day) {
  const part = (name, limit, { run = [name], ...more } = {}) => ({
    name,
    command: ['npm', 'run', ...run],
    minutes: limit,
    ...more,
  });
  const reliability = { writes: 'docs/reliability.md' };
  // Other servers each night.
  const seeds = ['--random', String(SERVERS), '--seed', String(day * SERVERS)];
  const random = { run: ['torture', '--', ...seeds], writes: 'docs/torture-random.md' };
  const asLongAsTold = true;
  return [
    part('torture', 60, { writes: 'docs/torture.md', says: /\d+ cases, \d+ not as expected.*/ }),
    part('random', 180, { ...random, says: /\d+ servers from seed .*/ }),
    part('chaos', 60, { ...reliability, says: /\d+ SIGKILLs and .*/ }),
    part('long', 45, { run: ['test:long'] }),
    part('faults', 30, { needs: ['initdb', 'pg_basebackup'] }),
    part('mutants', 120, reliability),
    part('soak', soak + 15, {
      run: ['soak', '--', '--minutes', String(soak)],
      ...reliability,
      says: /\d+ minutes, \d+ simulated days.*/,
      asLongAsTold,
    }),
    part('fuzz', 60, { ...reliability, says: /[\d,]+ inputs, (?:no|with) findings/, asLongAsTold }),
    part('attack', 30, { writes: 'SECURITY.md', says: /[\d,]+ tries in .*/ }),
    part('limits', 30, reliability),
    part('failovers', 60, {
      run: ['failovers', '--', '--from', '1'],
      needs: ['patroni', 'etcd', 'haproxy', 'pgbouncer'],
      ...reliability,
      says: /\d+ of \d+ failovers .*/,
    }),
    part('pgbouncer', 60, { run: ['e2e:pgbouncer'], needs: ['pgbouncer'] }),
    part('containers', 90, { writes: 'docs/docker.md' }),
    part('versions', 120, { writes: 'docs/operations.md' }),
  ];
}

/** @param {import('./night.js').Part[]} chosen */
async function runAll(chosen) {
  const began = new Date().toISOString();
  const out = resolve(values.out);
  const earlier = readEarlier(out);
  const folder = join(out, began.slice(0, 19).replaceAll(':', '-'));
  mkdirSync(folder, { recursive: true });
  console.info(`logs and summary.json: ${folder}`);
  let stop = new AbortController();
  let interrupted = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => {
      interrupted = true;
      stop.abort(`${INTERRUPTED} by ${signal}`);
    });
  const results = [];
  let told = { line: 'nightly: nothing was run', bad: true };
  for (const part of chosen) {
    if (interrupted) break;
    stop = new AbortController();
    const log = join(folder, `${part.name}.log`);
    const result = await runPart(part, { log, cwd: ROOT, stop });
    const { name, state, why, seconds, passed, failed, skipped, says } = result;
    const tests = `${passed} passed, ${failed} failed, ${skipped} skipped`;
    const words = [state, why, duration(seconds), tests, says].filter((word) => word !== '');
    console.info(`${name.padEnd(10)} ${words.join('; ')}`);
    results.push(result);
    told = lineOf(results, earlier, parts);
    // After each, so that a night that is broken off has told what it saw.
    const summary = { began, line: told.line, results };
    writeFileSync(join(folder, 'summary.json'), `${JSON.stringify(summary, null, 2)}\n`);
  }
  console.info(told.line);
  process.exitCode = told.bad || interrupted ? 1 : 0;
}

/** How each part ended when it was run last, with the day. */
function readEarlier(out) {
  mkdirSync(out, { recursive: true });
  const found = new Map();
  for (const night of readdirSync(out).sort()) {
    if (!/^\d{4}-\d\d-\d\dT/.test(night)) continue;
    try {
      const { results } = JSON.parse(readFileSync(join(out, night, 'summary.json'), 'utf8'));
      for (const result of results)
        if (result.state !== 'not run')
          found.set(result.name, { ...result, day: night.slice(0, 10) });
    } catch (error) {
      console.error(`${night} is left out: ${error.message}`);
    }
  }
  return found;
}

function fail(message) {
  console.error(message);
  process.exit(2);
}
