/** Both compose files and the way of docs/docker.md to its secrets, as far as they can be checked without an engine; `npm run containers` has one. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readFlags } from '../../simulator/flags.ts';
import { readProgram } from '../../src/cli/program.ts';
import { loadSettings } from '../../src/settings/load.ts';
import { isSecret } from '../../src/settings/table/setting.ts';
import { ROWS } from '../../src/settings/table/table.ts';
import { blocks, paper, ROOT } from '../docs/markdown.ts';
import { createTestDatabase } from '../support/database.ts';

interface Service {
  readonly image: string;
  readonly build?: string;
  readonly pull_policy?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly volumes?: readonly string[];
  readonly restart?: string;
  readonly healthcheck?: { readonly disable?: boolean; readonly test?: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
}

interface Compose {
  readonly name?: string;
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes?: Readonly<Record<string, unknown>>;
  readonly secrets?: Readonly<Record<string, { readonly file: string }>>;
}

/** The keys of the compose specification that are used here, with the type of their values. */
const KEYS: Record<string, 'array' | 'object' | 'string' | 'boolean'> = {
  image: 'string',
  build: 'string',
  pull_policy: 'string',
  working_dir: 'string',
  user: 'string',
  read_only: 'boolean',
  cap_drop: 'array',
  security_opt: 'array',
  command: 'array',
  environment: 'object',
  secrets: 'array',
  ports: 'array',
  volumes: 'array',
  tmpfs: 'array',
  healthcheck: 'object',
  depends_on: 'object',
  restart: 'string',
  stop_grace_period: 'string',
};

const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');
const parsed = (text: string) => parse(text, { merge: true, strict: true }) as Compose;
const text = read('docker-compose.yml');
const compose = parsed(text);
const demo = parsed(read('docker-compose.demo.yml'));
const FILES = [
  ['docker-compose.yml', compose, 'daywalk'],
  ['docker-compose.demo.yml', demo, 'daywalk-demo'],
] as const;
const isOwn = ({ image }: Service) => !image.startsWith('postgres:');
const own = FILES.flatMap(([file, { services }]) =>
  Object.entries(services)
    .filter(([, service]) => isOwn(service))
    .map(([name, service]) => [`${name} of ${file}`, service] as const),
);

const typeOf = (value: unknown) => (Array.isArray(value) ? 'array' : typeof value);
/** `${NAME:-default}` as compose fills it where NAME is not set. */
const filled = (value: string) => value.replaceAll(/\$\{\w+(?::-([^}]*))?\}/g, '$1');

describe.each(FILES)('%s', (_, file, ownImage) => {
  const services = Object.entries(file.services);

  test('has keys that compose knows, each with a value of its type', () => {
    const wrong = services.flatMap(([name, service]) =>
      Object.entries(service)
        .filter(([key, value]) => KEYS[key] !== typeOf(value))
        .map(([key, value]) => `${name}.${key} is ${typeOf(value)}`),
    );
    expect(wrong).toEqual([]);
  });

  test('builds its own image once, and asks no registry for it', () => {
    const ours = services.map(([, service]) => service).filter(isOwn);
    for (const { image, pull_policy } of ours)
      expect({ image, pull_policy }).toEqual({ image: ownImage, pull_policy: 'never' });
    // Built twice it would leave an image without a name each time.
    expect(ours.flatMap(({ build }) => build ?? [])).toEqual(['.']);
    for (const [, service] of services)
      if (!isOwn(service)) expect(service.image).toMatch(/^postgres:\d+$/);
  });

  test('has services that wait for services that exist and can fulfil the condition', () => {
    for (const [name, { depends_on = {} }] of services)
      for (const [target, { condition }] of Object.entries(depends_on)) {
        const service = file.services[target];
        expect(service, `${name} waits for ${target}`).toBeDefined();
        if (condition === 'service_healthy') expect(service?.healthcheck?.test?.[0]).toBe('CMD');
        else {
          expect(condition).toBe('service_completed_successfully');
          expect(service?.restart).toBe('no');
        }
      }
  });
});

test('the demo is a project of its own, so that its `down` ends nothing else', () => {
  expect(demo.name).toBe('daywalk-demo');
  expect(compose.name).toBeUndefined();
  const ports = FILES.flatMap(([, { services }]) =>
    Object.values(services).flatMap((service) => (service as { ports?: string[] }).ports ?? []),
  ).map(filled);
  expect(ports).toEqual(['127.0.0.1:8642:8642', '127.0.0.1:8643:8642']);
});

test('secrets and volumes are defined where they are used, and used where they are defined', () => {
  const services = Object.values(compose.services);
  const secrets = services.flatMap((service) => service.secrets ?? []);
  expect([...new Set(secrets)].sort()).toEqual(Object.keys(compose.secrets ?? {}).sort());
  const volumes = services.flatMap((service) => service.volumes ?? []);
  const named = volumes.map((volume) => volume.split(':')[0] ?? '');
  expect(named.filter((name) => !name.startsWith('./'))).toEqual(
    Object.keys(compose.volumes ?? {}),
  );
  // A folder that is not there would be made by the engine, as root.
  for (const folder of named.filter((name) => name.startsWith('./')))
    expect(read(join(folder, '.gitignore'))).toMatch(/^\*$/m);
  for (const { environment = {}, secrets: given = [] } of services)
    for (const [key, value] of Object.entries(environment))
      if (value.startsWith('/run/secrets/')) {
        expect(key).toMatch(/_FILE$/);
        expect(given).toContain(value.slice('/run/secrets/'.length));
      }
});

test('outside the demo no secret stands in the file', () => {
  const secret = new Set<string>(
    ROWS.filter(({ kind }) => isSecret(kind)).flatMap((row) => row.env),
  );
  for (const { environment = {} } of Object.values(compose.services))
    expect(
      Object.keys(environment).filter((key) => secret.has(key) || /PASSWORD$/.test(key)),
    ).toEqual([]);
});

describe.each(own)('%s', (_, service) => {
  test('has an environment of settings that the program takes', () => {
    const environment = Object.fromEntries(
      Object.entries(service.environment ?? {}).map(([name, value]) => [name, filled(value)]),
    );
    const known = new Set<string>(ROWS.flatMap((row) => row.env));
    expect(Object.keys(environment).filter((name) => !known.has(name))).toEqual([]);
    const asksApi = 'DAYWALK_API_URL' in environment;
    const settings = loadSettings({
      flags: {},
      environment: asksApi
        ? {
            ...environment,
            DAYWALK_API_URL: environment.DAYWALK_API_URL || 'https://soc.example',
          }
        : environment,
      cwd: '/app',
      readFile: (path) => {
        if (/^\/run\/secrets\/(?:database|owner)_url$/.test(path))
          return Buffer.from('postgres://daywalk:x@postgres/daywalk\n');
        if (path === '/run/secrets/api_key') return Buffer.from('the-key\n');
        throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' });
      },
      ...(asksApi ? { require: ['api'] as const } : {}),
    });
    if (service.command?.[1] !== 'dist/simulator/main.js')
      expect(settings.databaseUrl).toBeDefined();
  });

  test('has a command that the image can run', () => {
    const [program, ...args] = service.command ?? ['daywalk', 'worker'];
    if (program === 'node') {
      expect(args.shift()).toBe('dist/simulator/main.js');
      expect(readFlags(args, {})).toHaveProperty('options');
    } else {
      expect(program).toBe('daywalk');
      const verbs = readProgram(new AbortController().signal, () => {}).commands;
      expect(verbs.map((verb) => verb.name())).toContain(args[0]);
    }
  });
});

test('the commands of docs/docker.md make the secrets that compose mounts, for their owner only', () => {
  const block = blocks(paper('docs/docker.md'), 'sh').find((found) =>
    found.includes('secrets/database_url'),
  );
  const lines = (block ?? '').split('\n').filter((line) => !line.startsWith('docker '));
  const folder = mkdtempSync(join(tmpdir(), 'daywalk-compose-'));
  try {
    for (const name of ['secrets', 'config', 'export']) mkdirSync(join(folder, name));
    execFileSync('bash', ['--norc', '-euc', lines.join('\n')], { cwd: folder, input: 'the-key\n' });
    const made = (name: string) => readFileSync(join(folder, name), 'utf8').trim();
    for (const { file } of Object.values(compose.secrets ?? {})) {
      expect(made(file)).not.toBe('');
      expect(statSync(join(folder, file)).mode & 0o077).toBe(0);
    }
    const { environment } = compose.services.postgres ?? {};
    for (const [file, username, password] of [
      ['owner_url', environment?.POSTGRES_USER, 'postgres_password'],
      ['database_url', 'daywalk_worker', 'worker_password'],
    ] as const)
      expect(new URL(made(`secrets/${file}`))).toMatchObject({
        username,
        password: made(`secrets/${password}`),
        hostname: 'postgres',
        pathname: `/${environment?.POSTGRES_DB}`,
        // The network of these containers is the machine's own.
        search: '?sslmode=disable',
      });
    const variables = new Set([...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name));
    const set = made('.env')
      .split('\n')
      .map((line) => line.split('=')[0] ?? '');
    expect(set.filter((name) => !variables.has(name))).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test.runIf(spawnSync('psql', ['--version']).status === 0)(
  'worker-role makes a role that works and is no superuser; again it changes the password',
  async () => {
    const server = await createTestDatabase();
    const folder = mkdtempSync(join(tmpdir(), 'daywalk-compose-'));
    const role = `${server.name}_worker`;
    try {
      const script = String(compose.services['worker-role']?.command?.[2])
        .replace(/\$\{WORKER_RIGHTS:-(\w+)\}/, '$1')
        .replaceAll('$$', '$')
        .replaceAll('/run/secrets', folder)
        .replaceAll('daywalk_worker', role);
      const owner = new URL(server.url);
      writeFileSync(join(folder, 'postgres_password'), `${decodeURIComponent(owner.password)}\n`);
      for (const password of ['first-password', 'second "password\\']) {
        writeFileSync(join(folder, 'worker_password'), `${password}\n`);
        const env = {
          PATH: process.env.PATH,
          PGHOST: owner.searchParams.get('host') ?? owner.hostname,
          PGPORT: owner.port,
          PGUSER: decodeURIComponent(owner.username),
          PGDATABASE: server.name,
        };
        execFileSync('sh', ['-euc', script], { env });
        const url = new URL(server.url);
        [url.username, url.password] = [role, encodeURIComponent(password)];
        const client = new pg.Client({ connectionString: url.href });
        await client.connect();
        const { rows } = await client.query(
          `select rolsuper or rolcreaterole or rolcreatedb or rolbypassrls as mighty from pg_roles where rolname = current_user`,
        );
        expect(rows).toEqual([{ mighty: false }]);
        await client.query('select from daywalk.windows');
        await expect(client.query('delete from daywalk.pages')).rejects.toThrow(
          /permission denied/,
        );
        await client.end();
      }
    } finally {
      await server.query(`drop owned by ${role}`);
      await server.query(`drop role ${role}`);
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

test('the worker is not who owns the schema', () => {
  const { migrate, worker } = compose.services;
  expect(migrate?.environment?.DATABASE_URL_FILE).toBe('/run/secrets/owner_url');
  expect(worker?.environment?.DATABASE_URL_FILE).toBe('/run/secrets/database_url');
  expect(worker?.secrets).not.toContain('owner_url');
});
