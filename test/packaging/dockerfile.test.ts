/** The Dockerfile, by rules of our own: what it builds from, what it copies, who runs it and how it ends. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SETTINGS } from '../../src/settings/table/table.ts';
import { ROOT } from '../docs/markdown.ts';

interface Instruction {
  readonly name: string;
  readonly rest: string;
}

const file = readFileSync(join(ROOT, 'Dockerfile'), 'utf8');
const ignored = readFileSync(join(ROOT, '.dockerignore'), 'utf8');
const manifest = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

/** Instructions in order; continued lines are joined, comments left out. */
const instructions: Instruction[] = file
  .split('\n')
  .filter((line) => !line.startsWith('#'))
  .join('\n')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line.trim() !== '')
  .map((line) => {
    const [, name = '', rest = ''] = /^(\S+)\s+(.*)$/.exec(line) ?? [];
    return { name, rest };
  });

/** The instructions of each stage, its FROM first. */
const stages = instructions.reduce<Instruction[][]>((found, instruction) => {
  if (instruction.name === 'FROM') found.push([]);
  found.at(-1)?.push(instruction);
  return found;
}, []);
const [build = [], production = [], image = []] = stages;
const the = (stage: readonly Instruction[], name: string) =>
  stage.filter((instruction) => instruction.name === name).map(({ rest }) => rest);

/** What COPY takes out of the folder of the build. */
const copied = stages.flatMap((stage) =>
  the(stage, 'COPY')
    .filter((rest) => !rest.startsWith('--from'))
    .flatMap((rest) => rest.split(/\s+/).slice(0, -1))
    .map((path) => path.replace(/^\.\//, '')),
);

test('every stage builds on the same base, which has a tag and a Node.js that the program runs on', () => {
  expect(stages.length).toBe(3);
  for (const stage of stages) expect(the(stage, 'FROM')[0]).toMatch(/^\$\{NODE\}(?: AS \w+)?$/);
  const base = /^NODE=node:(\d+)-slim$/.exec(instructions[0]?.rest ?? '');
  const least = Number(/\d+/.exec(manifest.engines.node)?.[0]);
  expect(Number(base?.[1])).toBeGreaterThanOrEqual(least);
});

test('dependencies are those of the lock file; those that run are without compiler and embedded Postgres', () => {
  expect(the(build, 'RUN')[0]).toMatch(/^npm ci --ignore-scripts/);
  const [install, readable] = the(production, 'RUN');
  expect(install).toMatch(/^npm ci --omit=dev --omit=optional --ignore-scripts/);
  expect(the(production, 'COPY').at(-1)).toBe('--from=build /app/dist ./dist');
  expect(the(image, 'COPY')).toEqual(['--from=production /app ./']);
  // Whatever the modes of the clone are.
  expect(readable).toMatch(/^chmod -R a\+rX LICENSE migrations package\.json /);
});

test('what is copied exists, and .dockerignore lets that through and nothing else', () => {
  const [first, ...rest] = ignored
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  expect(first).toBe('*');
  expect(rest.map((line) => line.replace(/^!/, '')).sort()).toEqual([...new Set(copied)].sort());
  for (const path of copied) expect(existsSync(join(ROOT, path)), path).toBe(true);
});

describe('the image', () => {
  test('runs the worker as process 1, as a user without rights, and is ended by SIGTERM', () => {
    expect(the(image, 'USER')).toEqual(['node']);
    expect(the(image, 'STOPSIGNAL')).toEqual(['SIGTERM']);
    expect(the(image, 'ENTRYPOINT')).toEqual([]);
    expect(the(image, 'CMD').map((rest) => JSON.parse(rest))).toEqual([['daywalk', 'worker']]);
    expect(the(image, 'RUN')).toEqual(['ln -s /app/dist/main.js /usr/local/bin/daywalk']);
    expect(manifest.bin).toEqual({ daywalk: 'dist/main.js' });
    const order = image.map(({ name }) => name);
    expect(order.lastIndexOf('COPY')).toBeLessThan(order.indexOf('USER'));
  });

  test('has a health check that ends before it counts as failed', () => {
    const [check = ''] = the(image, 'HEALTHCHECK');
    expect(check).toMatch(/--timeout=\d+s/);
  });

  test('the health check asks the worker, where it listens by default, and believes its answer', async () => {
    const [check = ''] = the(image, 'HEALTHCHECK');
    const [command, flag, script = ''] = JSON.parse(check.slice(check.indexOf('[')));
    expect([command, flag]).toEqual(['node', '-e']);
    const origin = `http://${SETTINGS.statusListen.default}`;
    expect(script).toContain(`'${origin}/readyz'`);
    const codeAt = (port: number) => {
      const there = script.replace(origin, `http://127.0.0.1:${port}`);
      return spawnSync(process.execPath, ['-e', there], { stdio: 'ignore' }).status;
    };
    expect(codeAt(1)).toBe(1);
    for (const [status, code] of [
      [200, 0],
      [503, 1],
    ] as const) {
      const server = spawn(process.execPath, [
        '-e',
        `require('node:http').createServer((q, a) => a.writeHead(q.url === '/readyz' ? ${status} : 404).end())
           .listen(0, '127.0.0.1', function () { console.log(this.address().port) })`,
      ]);
      onTestFinished(() => void server.kill());
      const [port] = await once(server.stdout, 'data');
      expect(codeAt(Number(port))).toBe(code);
    }
  });

  test('holds no secret and downloads nothing by itself', () => {
    expect(instructions.map(({ name }) => name)).not.toContain('ADD');
    expect(file).not.toMatch(/\b(?:curl|wget|DAYWALK_API_KEY|DATABASE_URL=)\b/);
  });
});
