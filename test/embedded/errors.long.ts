/** What `errors` has no time for: a package of Postgres whose install script did not run, copied for the test. */
import { chown, cp, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { installApp, isRoot, PLATFORM, ROOT, startElsewhere } from './processes.ts';

test.runIf(isRoot && process.platform === 'linux')(
  'a read-only package whose install script did not run is no obstacle',
  async () => {
    const { app, modules } = await installApp();
    await cp(join(ROOT, 'node_modules', PLATFORM), join(modules, PLATFORM), {
      recursive: true,
      filter: (path) => !/\/libicu\w+\.so(\.60)?$/.test(path),
    });
    const directory = join(app, '.daywalk');
    await mkdir(directory);
    await chown(directory, 65534, 65534);
    const { said } = await startElsewhere(directory, { app, uid: 65534 });
    expect(said).toMatch(/^postgresql:/);
    expect(await readdir(join(directory, 'lib'))).toContain('libicuuc.so.60');
    expect(await readdir(join(modules, PLATFORM, 'native/lib'))).not.toContain('libicuuc.so.60');
  },
);
