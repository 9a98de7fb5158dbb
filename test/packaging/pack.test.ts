/** The two packages as npm would publish them, as far as it tells without building: all that they need is in them, and nothing else. */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { ROOT } from '../docs/markdown.ts';
import { expectWhole, PACK, packedIn } from './packed.ts';

test('CONTRIBUTING.md tells how they are packed', () => {
  expect(readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8')).toContain(`npm ${PACK.join(' ')}`);
});

test('both have the program, the migrations and the pages, and no source or test', async () => {
  // What the tests were built into is there already.
  const args = [...PACK, '--ignore-scripts', '--dry-run', '--json'];
  const { stdout } = await promisify(execFile)('npm', args, { cwd: ROOT, maxBuffer: 1e8 });
  for (const { name, files } of packedIn(stdout)) {
    expectWhole(files);
    const paths = files.map(({ path }) => path);
    const migrations = readdirSync(join(ROOT, 'migrations')).map((file) => `migrations/${file}`);
    expect(paths).toEqual(
      expect.arrayContaining(
        name === 'daywalk' ? ['dist/main.js', 'docs/daywalk.1', ...migrations] : ['dist/index.js'],
      ),
    );
    expect(paths.filter((path) => /^(src|test|simulator|bench|node_modules)\//.test(path))).toEqual(
      [],
    );
  }
});
