/** The first contact: a settings file from flags and environment, examined at once, and never written over by accident. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { API_KEY, runProgram, temporaryFolder } from '../support/program.ts';
import { setScene } from '../support/scene.ts';

test('init writes what was given, has it examined, and a run with nothing but the secrets works', async () => {
  const scene = await setScene();
  const folder = temporaryFolder();
  const secrets = { DAYWALK_API_KEY: API_KEY, DATABASE_URL: scene.database.url };
  const written = await runProgram(
    ['init', '--api-url', scene.api.url, '--since', '2026-03-01', '--page-length', '50'],
    { folder, environment: secrets },
  );
  expect(written, written.stdout + written.stderr).toMatchObject({ code: 0 });
  expect(written.stdout).toMatch(/^Wrote .*daywalk\.yaml[\s\S]*✓ stream events/);
  const text = await readFile(join(folder, 'daywalk.yaml'), 'utf8');
  expect(text).toMatch(/^# yaml-language-server: \$schema=\.\/daywalk\.schema\.json\n/);
  expect(text).not.toContain(API_KEY);
  // Looked at in the records of the newest closed day.
  expect(written.stdout).toMatch(/identity events +id is in each of \d+ records, and different/);
  expect(written.stdout).toMatch(/^daywalk\.yaml has id_path: id\./m);
  expect(text).toMatch(/^id_path: id$/m);
  expect(written.stdout).toMatch(
    /\nDAYWALK_API_KEY is not kept: .*api\.key_file\.\nNext: daywalk run\n$/,
  );
  JSON.parse(await readFile(join(folder, 'daywalk.schema.json'), 'utf8'));

  const config = await runProgram(['config'], { folder, environment: secrets });
  expect(config.stdout).toMatch(/^since +2026-03-01 +.*daywalk\.yaml/m);

  await writeFile(join(folder, 'daywalk.yaml'), '# mine\n');
  const again = await runProgram(['init'], { folder, environment: secrets });
  expect(again).toMatchObject({ code: 2 });
  expect(again.stderr).toMatch(/daywalk\.yaml is there already, and stays as it is\n.*--force/);
  expect(await readFile(join(folder, 'daywalk.yaml'), 'utf8')).toBe('# mine\n');
  const forced = await runProgram(['init', '--force', '--api-url', scene.api.url], {
    folder,
    environment: secrets,
  });
  expect(forced).toMatchObject({ code: 0 });
  expect(await readFile(join(folder, 'daywalk.yaml'), 'utf8')).toContain(`url: ${scene.api.url}`);
});

test.each([['init'], ['init', '--embedded']])(
  'without an address nothing is written: %j',
  async (...args) => {
    const folder = temporaryFolder();
    const environment = args.length > 1 ? {} : { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/x' };
    const ended = await runProgram(args, { folder, environment });
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toMatch(/api\.url[\s\S]*DAYWALK_API_URL[\s\S]*api\.key/);
    expect(await readdir(folder)).toEqual([]);
  },
);

test('what identifies the records of one stream says nothing of one that did not answer', async () => {
  const scene = await setScene({
    eventsPerDay: 2000,
    respond: ({ resource }) =>
      resource === 'events' ? { kind: 'body', body: '<html>', status: 200 } : undefined,
  });
  const folder = temporaryFolder();
  const ended = await runProgram(['init'], { folder, environment: scene.environment });
  expect(ended).toMatchObject({ code: 2 });
  expect(ended.stdout).toMatch(/^✓ identity smart-event +id /m);
  expect(ended.stdout).not.toMatch(/has id_path|Next:/);
  expect(await readFile(join(folder, 'daywalk.yaml'), 'utf8')).not.toMatch(/^id_path:/m);
});
