/** What `npm run nightly` does with a part: runs it within its time, reads its figures, and says what got worse. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * @typedef {object} Part
 * @property {string} name
 * @property {readonly string[]} command
 * @property {number} minutes The longest that it may take.
 * @property {string} [writes] The page that gets its table.
 * @property {readonly string[]} [needs] Programs without which it is not run.
 * @property {RegExp} [says] Its figures, in a line of what it prints.
 * @property {boolean} [asLongAsTold] It takes the time that it is told to, which says nothing about it.
 *
 * @typedef {object} Result
 * @property {string} name
 * @property {'passed' | 'failed' | 'not run'} state
 * @property {string} why Why it failed or was not run; empty: it passed.
 * @property {number} seconds
 * @property {number} passed Tests.
 * @property {number} failed
 * @property {number} skipped
 * @property {string} says
 */

/** Less than this is no slower part: half as much again, and a minute. */
const SLOWER = { times: 1.5, seconds: 60 };
/** The beginning of what stops a part that has done nothing wrong. */
export const INTERRUPTED = 'interrupted';
const GRACE_MS = 60_000;
const LOOK_AGAIN_MS = 50;

/**
 * Runs a part in a process group of its own, which is ended when the time is over or `stop` is aborted.
 * @param {Part} part
 * @param {{ log: string, cwd: string, stop?: AbortController, graceMs?: number }} options
 * @returns {Promise<Result>}
 */
export async function runPart(part, { log, cwd, stop = new AbortController(), graceMs }) {
  const began = performance.now();
  const missing = (part.needs ?? []).filter((program) => !isInstalled(program));
  if (missing.length > 0)
    return resultOf(part, { log: '', seconds: 0, lacks: `no ${missing.join(', ')} installed` });
  const limit = setTimeout(
    () => stop.abort(`took longer than ${part.minutes} min`),
    part.minutes * 60_000,
  );
  const wrong = await runGroup(part.command, { log, cwd, signal: stop.signal, graceMs });
  clearTimeout(limit);
  const seconds = Math.round((performance.now() - began) / 1000);
  // Whoever ends the night says nothing about the part.
  const lacks = wrong.startsWith(INTERRUPTED) ? wrong : '';
  return resultOf(part, { log: readFileSync(log, 'utf8'), seconds, wrong, lacks });
}

/** @returns {Promise<string>} what was wrong with its end; empty: nothing. */
async function runGroup([program = '', ...args], { log, cwd, signal, graceMs = GRACE_MS }) {
  const file = openSync(log, 'w');
  const child = spawn(program, args, {
    cwd,
    detached: true,
    env: { ...process.env, NO_COLOR: '1' },
    stdio: ['ignore', file, file],
  });
  closeSync(file);
  const ended = once(child, 'exit').then(
    ([code, killedBy]) => (code === 0 ? '' : `exit code ${code ?? killedBy}`),
    (error) => error.message,
  );
  const stopped = new Promise((resolve) => signal.addEventListener('abort', resolve));
  await Promise.race([ended, stopped]);
  if (!signal.aborted || child.pid === undefined) return ended;
  await endGroup(child.pid, graceMs);
  await ended;
  return String(signal.reason);
}

/** SIGTERM, and SIGKILL for whoever is left after the grace. */
async function endGroup(leader, graceMs) {
  const until = performance.now() + graceMs;
  signalGroup(leader, 'SIGTERM');
  while (signalGroup(leader, 0) && performance.now() < until) await sleep(LOOK_AGAIN_MS);
  signalGroup(leader, 'SIGKILL');
}

/** @returns whether there is such a group. */
function signalGroup(leader, signal) {
  try {
    return process.kill(-leader, signal);
  } catch {
    return false;
  }
}

function isInstalled(program) {
  const PATH = `${process.env.PATH}:/usr/sbin:/usr/lib/postgresql/15/bin`;
  return spawnSync('sh', ['-c', 'command -v "$1"', 'sh', program], { env: { PATH } }).status === 0;
}

/**
 * What a part came to, by its end and by what it printed.
 * @param {Pick<Part, 'name' | 'says'>} part
 * @param {{ log: string, seconds: number, wrong?: string, lacks?: string }} ended `lacks`: why it was not run.
 * @returns {Result}
 */
export function resultOf({ name, says }, { log, seconds, wrong = '', lacks = '' }) {
  const counts = countsOf(log);
  // As `npm run containers` says it.
  const cannot = /cannot run here:\s+- (.+)/.exec(log)?.[1] ?? '';
  const nothing = wrong === '' && counts.passed === 0 ? 'all its tests were skipped' : '';
  const why = lacks || cannot || nothing;
  const state = why !== '' ? 'not run' : wrong !== '' ? 'failed' : 'passed';
  const figures = says === undefined ? '' : (log.match(says)?.[0].trim() ?? '');
  return { name, state, why: why || wrong, seconds, ...counts, says: figures };
}

/** Of vitest's last line of tests; or of the rows that `npm run versions` prints. */
function countsOf(log) {
  const line = [...log.matchAll(/^ *Tests +(.*)$/gm)].at(-1)?.[1];
  const count = (word) =>
    line === undefined
      ? sum(log.matchAll(new RegExp(`^.*\\b${word}: (\\d+)`, 'gm')))
      : sum(line.matchAll(new RegExp(`(\\d+) ${word}`, 'g')));
  return { passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
}

const sum = (matches) => [...matches].reduce((total, [, number]) => total + Number(number), 0);

/**
 * What is worse than the last time that the part was run, in words; none: nothing is.
 * @param {Result} now
 * @param {Result | undefined} before
 * @param {boolean} [asLongAsTold]
 * @returns {string[]}
 */
function worseThan(now, before, asLongAsTold = false) {
  if (before?.state !== 'passed') return [];
  if (now.state !== 'passed') return [`${now.name} ${stateOf(now)} (was green)`];
  const lost = before.passed > now.passed;
  const { times, seconds } = SLOWER;
  const slower =
    !asLongAsTold && now.seconds > before.seconds * times && now.seconds > before.seconds + seconds;
  const [from, to] = [before, now].map((one) => Math.round(one.seconds / 60));
  return [
    ...(lost ? [`${now.name} ${before.passed} -> ${now.passed} tests`] : []),
    ...(slower ? [`${now.name} ${from} -> ${to} min`] : []),
  ];
}

const stateOf = ({ state, why }) => (state === 'not run' ? `not run, ${why}` : state);

/**
 * The night in one line, and whether anything failed or got worse.
 * @param {readonly Result[]} results
 * @param {ReadonlyMap<string, Result & { day: string }>} earlier how each part ended when it was run last.
 * @param {readonly Part[]} parts
 * @returns {{ line: string, bad: boolean }}
 */
export function lineOf(results, earlier, parts = []) {
  const told = parts.filter((part) => part.asLongAsTold).map(({ name }) => name);
  const worse = new Map();
  const still = [];
  for (const now of results) {
    const before = earlier.get(now.name);
    const found = worseThan(now, before, told.includes(now.name));
    if (before !== undefined && found.length > 0)
      worse.set(before.day, [...(worse.get(before.day) ?? []), ...found]);
    else if (now.state !== 'passed') still.push(`${now.name} ${stateOf(now)}`);
  }
  const green = results.filter(({ state }) => state === 'passed').length;
  const seconds = results.reduce((total, one) => total + one.seconds, 0);
  const days = [...worse].map(([day, found]) => `worse than ${day}: ${found.join(', ')}`);
  const compared = earlier.size === 0 ? 'nothing to compare with' : 'nothing got worse';
  const line = [
    `nightly: ${green} of ${results.length} parts green, ${duration(seconds)}`,
    ...(still.length > 0 ? [still.join(', ')] : []),
    ...(days.length > 0 ? days : [compared]),
  ].join('; ');
  return { line, bad: days.length > 0 || results.some(({ state }) => state === 'failed') };
}

/** `2 h 41 min`, `14 min`, `45 s`. */
export function duration(seconds) {
  const minutes = Math.round(seconds / 60);
  if (seconds < 120) return `${seconds} s`;
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
