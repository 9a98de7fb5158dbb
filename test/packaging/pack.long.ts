/** What ./pack.test.ts leaves to the night: the packages of a fresh clone are built, installed into an empty folder, and run the demo there. */
import { execFile, execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { ROOT } from '../docs/markdown.ts';
import { until } from '../support/condition.ts';
import { processesOf } from '../support/processes.ts';
import { expectWhole, PACK, packedIn } from './packed.ts';

/** npm may have to download what the packages need; who waits longer than this has no network. */
const INSTALL_MS = 150_000;
/** Two builds, a download and a demo, on a machine that may be slow. */
const LONGEST_MS = 480_000;
const run = promisify(execFile);

/** The files that git knows, with what is installed: what a fresh clone has after `npm ci`. */
function cloneInto(folder: string): void {
  const files = execFileSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    {
      cwd: ROOT,
      encoding: 'utf8',
    },
  );
  for (const path of files.split('\0').filter((path) => path && existsSync(join(ROOT, path))))
    if (/^(src|simulator|migrations|packages|docs\/[^/]*$|[^/]*$)/.test(path))
      cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
}

test(
  'both are whole, install into an empty folder, and run the demo there',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'daywalk-pack-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const [clone, app] = [join(folder, 'clone'), join(folder, 'app')];
    cloneInto(clone);

    const { stdout } = await run('npm', [...PACK, '--json', '--pack-destination', folder], {
      cwd: clone,
      maxBuffer: 1e8,
    });
    const packed = packedIn(stdout);
    for (const { name, files } of packed) {
      const base = name === 'daywalk' ? clone : join(clone, 'packages/embedded-postgres');
      for (const { path } of files) {
        if (!path.startsWith('dist/')) continue;
        const source = path.replace(/\.d\.ts$|\.js$/, '.ts');
        const places = [source.replace('dist/', 'src/'), source.replace('dist/', '')];
        expect(
          places.some((place) => existsSync(join(base, place))),
          path,
        ).toBe(true);
      }
      expectWhole(files);
    }

    cpSync(join(ROOT, '.npmrc'), join(app, '.npmrc'));
    const tarballs = packed.map(({ filename }) => join(folder, filename.split('/').at(-1) ?? ''));
    // No install script is needed by either.
    const options = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund'];
    await run('npm', ['install', ...options, ...tarballs], { cwd: app, timeout: INSTALL_MS });
    const daywalk = join(app, 'node_modules/.bin/daywalk');
    const shown = await run(daywalk, ['demo', '--days', '1', '--events', '2000'], {
      cwd: app,
      env: { PATH: `${dirname(process.execPath)}:/usr/bin:/bin` },
    });
    expect(shown.stdout).toMatch(/^events: 1 of 1 days complete/m);
    if (process.platform === 'linux')
      await until('the end of its Postgres', () => processesOf(app).length === 0);
  },
  LONGEST_MS,
);
