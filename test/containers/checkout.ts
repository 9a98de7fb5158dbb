/** A clone to run the lines of docs/docker.md in: made under umask 077, with an API at https://soc.example beside it. */
import { execFileSync, spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { inject } from 'vitest';
import { blocks, paper, ROOT } from '../docs/markdown.ts';
import { FIGURES } from './figures.ts';

export const KEY = 'key-of-the-api-5f0c';

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The `sh` block below a heading of docs/docker.md, with its lines as they stand there. */
export function blockBelow(heading: string, which = 0): string {
  const { path, text } = paper('docs/docker.md');
  const section = text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  const block = blocks({ path, text: section }, 'sh')[which];
  if (block === undefined) throw new Error(`docs/docker.md has no block ${which} in ${heading}`);
  return block;
}

/** Notes a line for the table of docs/docker.md. */
export function note(tried: string, found: string): void {
  appendFileSync(join(inject('folder'), FIGURES), `${JSON.stringify({ tried, found })}\n`);
}

/** Seconds as a person reads them. */
export const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

/** A script in a folder, with the engine within reach and nothing else of this process' environment. */
export function sh(folder: string, script: string, input = ''): Ended {
  const ended = spawnSync('bash', ['--norc', '-euo', 'pipefail', '-c', script], {
    cwd: folder,
    input,
    env: inject('engine'),
    encoding: 'utf8',
    timeout: 600_000,
    killSignal: 'SIGKILL',
    maxBuffer: 64_000_000,
  });
  return { code: ended.status, stdout: ended.stdout, stderr: ended.stderr };
}

/** What it prints. @throws {Error} with all that it said, when it fails. */
export function must(folder: string, script: string, input = ''): string {
  const { code, stdout, stderr } = sh(folder, script, input);
  if (code !== 0) throw new Error(`${script}\nended with ${code}\n${stdout}\n${stderr}`);
  return stdout.trim();
}

/** Waits until the script succeeds. @returns the milliseconds that it took. */
export async function until(folder: string, script: string, patienceMs: number): Promise<number> {
  const began = performance.now();
  for (;;) {
    const { code, stdout, stderr } = sh(folder, script);
    const took = performance.now() - began;
    if (code === 0) return took;
    if (took > patienceMs)
      throw new Error(`${script}\ngives ${code} after ${seconds(took)}\n${stdout}\n${stderr}`);
    await wait(250);
  }
}

/** The files of this checkout as git has them or would, as a clone under umask 077 has them. */
export function cloneHere(): string {
  const folder = mkdtempSync(join(inject('folder'), 'clone-'));
  execFileSync(
    'bash',
    [
      '-euo',
      'pipefail',
      '-c',
      // Files that are deleted and not committed yet are listed, too.
      `umask 077; cd "$1"; git ls-files -z --cached --others --exclude-standard |
         while IFS= read -rd '' file; do [ ! -e "$file" ] || printf '%s\\0' "$file"; done |
         tar --null --files-from=- -c | tar -x --no-same-permissions -C "$2"`,
      'clone',
      ROOT,
      folder,
    ],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  );
  return folder;
}

/** Puts an API at https://soc.example into the network of docker-compose.yml, and its authority into config/. */
export function addApi(folder: string, since: string): void {
  const config = join(folder, 'config');
  const days = [
    '-days',
    '2',
    '-nodes',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
  ];
  const openssl = (...args: string[]) =>
    execFileSync('openssl', ['req', '-x509', ...days, ...args], { cwd: config, stdio: 'ignore' });
  openssl(
    '-keyout',
    'api.key',
    '-out',
    'api.pem',
    '-subj',
    '/CN=soc.example',
    '-addext',
    'subjectAltName=DNS:soc.example',
  );
  cpSync(join(ROOT, 'test/containers/https-front.mjs'), join(config, 'https-front.mjs'));
  writeFileSync(
    join(config, 'daywalk.yaml'),
    `api: { ca_file: /config/api.pem }\nsince: ${since}\n`,
  );
  writeFileSync(
    join(folder, 'docker-compose.override.yml'),
    JSON.stringify({
      services: {
        'soc.example': {
          image: 'daywalk',
          pull_policy: 'never',
          // biome-ignore lint/suspicious/noTemplateCurlyInString: for compose to fill
          user: '${WORKER_UID:-1000}',
          init: true,
          command: [
            ...['sh', '-c'],
            `node /config/https-front.mjs & exec node dist/simulator/main.js --key ${KEY} --events-per-day 3000`,
          ],
          volumes: ['./config:/config:ro'],
          healthcheck: { disable: true },
          depends_on: { migrate: { condition: 'service_completed_successfully' } },
        },
      },
    }),
  );
}

/** Removes what `down` leaves. */
export function removeClone(folder: string): void {
  sh(folder, 'docker compose down --volumes --remove-orphans --timeout 5');
  rmSync(folder, { recursive: true, force: true });
}
