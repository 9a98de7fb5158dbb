/** The lines of docs/docker.md as they stand there, in their order, and what becomes of the containers in bad hours. */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dayAgo } from '../support/days.ts';
import {
  addApi,
  blockBelow,
  cloneHere,
  KEY,
  must,
  note,
  removeClone,
  seconds,
  sh,
  until,
} from './checkout.ts';

/** Days that are exported: the newest closed ones. */
const DAYS = 4;
const HEALTHY = healthIs('healthy');

let clone: string;

beforeAll(() => {
  clone = cloneHere();
  addApi(clone, dayAgo(DAYS));
});
afterAll(() => removeClone(clone));

/** Succeeds when every worker is in this state of health. */
function healthIs(state: string): string {
  return `ids=$(docker compose ps --all --quiet worker); [ -n "$ids" ]
    for id in $ids; do [ "$(docker inspect --format '{{.State.Health.Status}}' "$id")" = ${state} ]; done`;
}
const inspect = (format: string) =>
  must(clone, `docker inspect --format '${format}' "$(docker compose ps --all --quiet worker)"`);
const restarts = () => Number(inspect('{{.RestartCount}}'));
const daywalk = (args: string) => sh(clone, `docker compose exec -T worker daywalk ${args}`);

test('Start: secrets, build, Postgres, roles and worker from a clone made under umask 077', async () => {
  expect(statSync(join(clone, 'package.json')).mode & 0o077).toBe(0);
  const said = must(clone, blockBelow('Start'), KEY);
  expect(said).toMatch(/daywalk (?:run|gaps)|complete/);
  await until(clone, HEALTHY, 30_000);
  await until(clone, 'docker compose exec -T worker daywalk gaps', 120_000);
  expect(restarts()).toBe(0);
  expect(inspect('{{.Config.User}}')).toBe('1000');
});

test('a second start from the images that are there is healthy within seconds', async () => {
  must(clone, 'docker compose down');
  const began = performance.now();
  must(clone, 'docker compose up --detach');
  await until(clone, HEALTHY, 60_000);
  note(
    '`up --detach` with the image built, until the worker is healthy',
    seconds(performance.now() - began),
  );
});

test('neither secrets nor sources are in the image, and no secret in what the engine shows', () => {
  const files = must(
    clone,
    'docker run --rm --entrypoint find daywalk /app -type f -not -path "*/node_modules/*"',
  );
  const wrong = files
    .split('\n')
    .filter(
      (file) => !/^\/app\/(?:dist\/.*\.js|migrations\/.*\.sql|package\.json|LICENSE)$/.test(file),
    );
  expect(wrong).toEqual([]);
  // The API of this test has the key in its own command.
  const found = sh(
    clone,
    `cat secrets/api_key secrets/*_password > /tmp/patterns.$$; trap 'rm /tmp/patterns.$$' EXIT
     { docker compose config; docker history --no-trunc daywalk; docker inspect daywalk $(docker compose ps --all --quiet)
       docker compose logs; docker compose exec -T worker env; docker save daywalk; } |
       sed 's/--key ${KEY}//' | grep --text --fixed-strings --file /tmp/patterns.$$`,
  );
  expect(found).toMatchObject({ code: 1, stdout: '' });
  note(
    'files of the image outside node_modules',
    'programs, migrations, `package.json`, LICENSE; no secret, no source',
  );
});

test('nothing of the image can be changed by who runs in it', () => {
  const ended = sh(
    clone,
    'docker compose exec -T worker sh -c "touch /app/x /config/x; id; grep -E \'^(CapEff|NoNewPrivs)\' /proc/self/status"',
  );
  expect(ended.stderr).toMatch(/\/app\/x.*Read-only[\s\S]*\/config\/x.*Read-only/);
  expect(ended.stdout).toMatch(/uid=1000[\s\S]*CapEff:\s+0{16}\nNoNewPrivs:\s+1/);
});

test('Start: settings in config/daywalk.yaml, read at a restart', async () => {
  expect(daywalk('config').stdout).toMatch(
    new RegExp(`since\\s.*daywalk\\.yaml\\S*\\s+${dayAgo(DAYS)}`),
  );
  must(clone, blockBelow('Start', 1));
  await until(clone, HEALTHY, 30_000);
});

test('Every day: what is there, files of days', () => {
  const said = must(clone, blockBelow('Every day'));
  expect(said).toMatch(/worker.*\(healthy\)/);
  const files = execFileSync('find', [join(clone, 'export'), '-name', '*.parquet'], {
    encoding: 'utf8',
  });
  expect(files.trim().split('\n').length).toBeGreaterThanOrEqual(2 * (DAYS - 1));
  note(
    '`export --out /export --format parquet`',
    'files below `export/`, of the user that runs the worker',
  );
  const elsewhere = daywalk('export --out /files');
  expect(elsewhere).toMatchObject({ code: 2 });
  expect(elsewhere.stderr).toContain('/files/SHA256SUMS may not be read or written');
});

test('Every day: a second worker', async () => {
  must(clone, blockBelow('Every day', 1));
  await until(clone, HEALTHY, 30_000);
  const ports = must(
    clone,
    'for id in $(docker compose ps --quiet worker); do docker port "$id" 8642; done',
  ).split('\n');
  expect(new Set(ports).size).toBe(2);
  for (const port of ports) expect((await fetch(`http://${port}/readyz`)).status).toBe(200);
  note('`--scale worker=2`', 'both healthy, each with a port of its own');
  must(clone, "sed -i '/STATUS_PORT/d' .env; docker compose up --detach");
  await until(clone, HEALTHY, 30_000);
  expect((await fetch('http://127.0.0.1:8642/livez')).status).toBe(200);
});

test('a stop ends the worker in time, and it begins again', async () => {
  const began = performance.now();
  must(clone, 'docker compose stop worker');
  const took = performance.now() - began;
  expect(took).toBeLessThan(8_000);
  expect(inspect('{{.State.ExitCode}} {{.State.OOMKilled}}')).toBe('143 false');
  note('`stop worker`', `${seconds(took)}, exit code 143`);
  must(clone, 'docker compose start worker');
  await until(clone, HEALTHY, 30_000);
});

test('a worker that is killed is started again', async () => {
  process.kill(Number(inspect('{{.State.Pid}}')), 'SIGKILL');
  await until(
    clone,
    `[ "$(docker inspect --format '{{.RestartCount}}' "$(docker compose ps --all --quiet worker)")" = 1 ]`,
    20_000,
  );
  const took = await until(clone, HEALTHY, 30_000);
  note(
    'the worker killed (`kill -9`)',
    `started again by the engine, healthy ${seconds(took)} later`,
  );
});

test('a database that goes away and comes back: unhealthy, never ended, healthy', async () => {
  const before = restarts();
  must(clone, 'docker compose stop postgres');
  const down = await until(clone, healthIs('unhealthy'), 90_000);
  must(clone, 'docker compose start postgres');
  const up = await until(clone, HEALTHY, 90_000);
  expect(restarts()).toBe(before);
  note(
    'Postgres stopped, started',
    `unhealthy after ${seconds(down)}, healthy ${seconds(up)} after its start; no restart`,
  );
});

test('a worker that starts before its database waits for it', async () => {
  // As after a start of the machine, when nobody keeps the order.
  must(clone, 'docker compose stop; docker start "$(docker compose ps --all --quiet worker)"');
  await until(clone, healthIs('unhealthy'), 120_000);
  must(clone, 'docker compose start postgres');
  await until(clone, HEALTHY, 90_000);
  must(clone, 'docker compose start soc.example');
  expect(restarts()).toBe(0);
});

test('a refused key: unhealthy, no restart, and the right key is taken within seconds', async () => {
  const key = join(clone, 'secrets/api_key');
  writeFileSync(key, 'another-key\n');
  // One day more is due, so the API is asked.
  must(
    clone,
    `sed -i 's/^since:.*/since: ${dayAgo(DAYS + 1)}/' config/daywalk.yaml; docker compose restart worker`,
  );
  await until(
    clone,
    'curl --silent --max-time 5 http://127.0.0.1:8642/readyz | grep -q refuse',
    60_000,
  );
  const down = await until(clone, healthIs('unhealthy'), 90_000);
  expect(restarts()).toBe(0);
  expect(inspect('{{.State.Running}}')).toBe('true');
  writeFileSync(key, `${KEY}\n`);
  const up = await until(clone, HEALTHY, 60_000);
  note(
    'a refused key',
    `unhealthy after ${seconds(down)}, no restart; the right one in its file: healthy ${seconds(up)} later`,
  );
});

test('Upgrade: the new version runs, and nothing of the old one is left', async () => {
  const manifest = join(clone, 'package.json');
  writeFileSync(
    manifest,
    readFileSync(manifest, 'utf8').replace('"version": "0.1.0"', '"version": "0.1.1"'),
  );
  const old = inspect('{{.Image}}');
  must(clone, 'docker compose up --detach');
  expect(inspect('{{.Image}}')).toBe(old);
  must(clone, blockBelow('Upgrade'));
  await until(clone, HEALTHY, 30_000);
  expect(daywalk('--version').stdout.trim()).toBe('0.1.1');
  expect(daywalk('gaps')).toMatchObject({ code: 0 });
  expect(must(clone, 'docker images --quiet --filter dangling=true')).toBe('');
  note('the upgrade', 'the new version runs; no image of the old one is left');
});

test('The demo: beside all this, and gone without it', async () => {
  const running = must(clone, 'docker compose ps --quiet | sort');
  const said = must(clone, blockBelow('The demo'));
  expect(said).toMatch(/events/);
  expect(must(clone, 'docker compose ps --quiet | sort')).toBe(running);
  expect(
    must(clone, 'docker ps --all --quiet --filter label=com.docker.compose.project=daywalk-demo'),
  ).toBe('');
  expect(daywalk('gaps')).toMatchObject({ code: 0 });
  note('the demo, up and down', 'no container of the worker’s project touched');
});

test('The image alone', () => {
  expect(must(clone, blockBelow('The image alone'))).toMatch(/Usage: daywalk/);
});

test('down keeps the data, down --volumes does not', () => {
  must(clone, 'docker compose down');
  expect(must(clone, 'docker volume ls --quiet')).toMatch(/_postgres$/m);
  must(clone, 'docker compose down --volumes');
  expect(must(clone, 'docker volume ls --quiet')).not.toMatch(/_postgres$/m);
  expect(readdirSync(join(clone, 'secrets')).length).toBe(6);
  expect(existsSync(join(clone, 'export/manifest.json'))).toBe(true);
});

test('Start, by a user who is not root: the files stay his', async () => {
  const own = cloneHere();
  try {
    addApi(own, dayAgo(2));
    const user = 4711;
    must(
      own,
      `chown -R ${user} .; touch "\${DOCKER_HOST#unix://}" && chmod a+rw "\${DOCKER_HOST#unix://}"`,
    );
    // The plugins of the engine's client, in a folder that he may write into.
    must(
      own,
      `[ -z "\${DOCKER_CONFIG:-}" ] || { mkdir .docker; ln -s "$DOCKER_CONFIG/cli-plugins" .docker/; chown -R ${user} .docker; }`,
    );
    const as = `DOCKER_CONFIG=$PWD/.docker HOME=$PWD exec setpriv --reuid=${user} --regid=${user} --clear-groups bash --norc -euo pipefail`;
    must(
      own,
      `cat > .block <<'END'\n${blockBelow('Start').replace('cat > secrets/api_key', `echo ${KEY} > secrets/api_key`)}\nEND\n${as} .block`,
    );
    await until(own, HEALTHY, 60_000);
    await until(own, 'docker compose exec -T worker daywalk export --out /export', 60_000);
    expect(statSync(join(own, 'export/manifest.json')).uid).toBe(user);
    note(
      'the same as a plain user',
      `the containers run under that user’s id, and so are the files of \`export\``,
    );
  } finally {
    removeClone(own);
  }
});
