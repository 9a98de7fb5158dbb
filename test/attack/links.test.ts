/** Somebody who may write into the folder of `export --out` plants links, pipes and manifests there before a whole export. */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { SettingsError } from '../../src/errors.ts';
import { recordContents } from '../../src/files/contents.ts';
import { exportDays } from '../../src/files/export-days.ts';
import { writeWhole } from '../../src/files/folder.ts';
import { UNREACHED_RECORDS } from '../../src/tier/moved-records.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { ARCHIVE_DAY, storeDays } from '../support/served-archive.ts';
import { clear, openDatabase } from '../support/store.ts';
import { attack } from './attacking.ts';

const SECRET = 'the private key of somebody else';
const DAY_FOLDER = `stream=events/day=${ARCHIVE_DAY}`;
const FILE = `${DAY_FOLDER}/records.ndjson`;
const folders: string[] = [];
let server: TestDatabase;

beforeAll(async () => {
  server = await createTestDatabase();
});
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

/** A folder to export into, and what is somebody else's beside it. */
function newFolders() {
  const folder = mkdtempSync(join(tmpdir(), 'daywalk-attack-'));
  folders.push(folder);
  const [root, elsewhere] = [join(folder, 'out'), join(folder, 'elsewhere')];
  mkdirSync(join(elsewhere, 'folder'), { recursive: true });
  mkdirSync(root);
  for (const name of ['victim', 'folder/records.ndjson', 'folder/manifest.json'])
    writeFileSync(join(elsewhere, name), SECRET, { mode: 0o640 });
  return { root, elsewhere };
}

/** Everything below a folder; no link is followed. */
function below(folder: string): { path: string; stat: Stats }[] {
  return readdirSync(folder)
    .sort()
    .flatMap((name) => {
      const path = join(folder, name);
      const stat = lstatSync(path);
      return [{ path, stat }, ...(stat.isDirectory() ? below(path) : [])];
    });
}

/** Every name below a folder, with its mode and, of files, what is in it. */
const listed = (folder: string): string[] =>
  below(folder).map(({ path, stat }) =>
    [path, stat.mode.toString(8), stat.isFile() ? readFileSync(path, 'latin1') : ''].join(' '),
  );

const KINDS: Readonly<Record<string, (path: string, elsewhere: string) => void>> = {
  'a link to a file': (path, elsewhere) => symlinkSync(join(elsewhere, 'victim'), path),
  'a link to a folder': (path, elsewhere) => symlinkSync(join(elsewhere, 'folder'), path),
  'a link to what is not there': (path, elsewhere) => symlinkSync(join(elsewhere, 'new'), path),
  'a link upwards': (path) => symlinkSync('../../elsewhere/victim', path),
  'a link to itself': (path) => symlinkSync(path, path),
  'a link to /dev/zero': (path) => symlinkSync('/dev/zero', path),
  'a second name of a file': (path, elsewhere) => linkSync(join(elsewhere, 'victim'), path),
  'a pipe': (path) => void execFileSync('mkfifo', [path]),
  'a folder': (path) => mkdirSync(path),
};
const PLACES = [
  'manifest.json',
  '.manifest.json.half',
  'SHA256SUMS',
  '.SHA256SUMS.half',
  'stream=events',
  DAY_FOLDER,
  FILE,
  `${DAY_FOLDER}/.records.ndjson.half`,
];

async function exporting() {
  await clear(server);
  await storeDays(server, { [ARCHIVE_DAY]: [[{ id: 1 }, { id: 2 }]] });
  const database = openDatabase(server.url);
  return (folder: string, checkFiles: boolean) =>
    exportDays(
      { database, clock: systemClock },
      {
        folder,
        format: 'ndjson',
        contents: recordContents(database, ['events'], UNREACHED_RECORDS),
        from: ARCHIVE_DAY,
        to: ARCHIVE_DAY,
        checkFiles,
      },
      new AbortController().signal,
    );
}

/** Exports; what is somebody else's is as it was, and nothing of it is in what was written. It may be refused in words. */
async function expectUntouched(root: string, elsewhere: string, work: () => Promise<unknown>) {
  const before = listed(elsewhere);
  await work().catch((error: unknown) => expect(error).toBeInstanceOf(SettingsError));
  expect(listed(elsewhere)).toEqual(before);
  const victim = lstatSync(join(elsewhere, 'victim')).ino;
  for (const { path, stat } of below(root)) {
    if (!stat.isFile() || stat.ino === victim) continue;
    const text = readFileSync(path, 'utf8');
    expect(text, path).not.toContain(SECRET);
    expect(text, path).not.toMatch(/elsewhere|passwd/);
  }
}

attack(
  'links, pipes and folders planted below export --out, before the first export and the second',
  async () => {
    const run = await exporting();
    return PLACES.flatMap((place) =>
      Object.entries(KINDS).flatMap(([kind, plant]) =>
        [false, true].map((again) => ({
          name: `${kind} in place of ${place}${again ? ', later' : ''}`,
          run: async () => {
            const { root, elsewhere } = newFolders();
            if (again) await run(root, false);
            mkdirSync(dirname(join(root, place)), { recursive: true });
            rmSync(join(root, place), { recursive: true, force: true });
            plant(join(root, place), elsewhere);
            await expectUntouched(root, elsewhere, () => run(root, true));
          },
        })),
      ),
    );
  },
);

attack('manifests that name what is elsewhere', async () => {
  const run = await exporting();
  const entry = {
    path: FILE,
    stream: 'events',
    day: ARCHIVE_DAY,
    format: 'ndjson',
    sha256: 'a'.repeat(64),
    bytes: SECRET.length,
    walks: [1],
  };
  const paths = [
    '../elsewhere/victim',
    '/etc/passwd',
    `${FILE}/../../../../elsewhere/victim`,
    'x/../../elsewhere/victim',
    './elsewhere',
    '..',
    '',
    `${FILE}\n${'a'.repeat(64)}  /etc/passwd`,
    '\\..\\elsewhere',
    '__proto__',
  ];
  const fields = ['path', 'stream', 'day', 'format', 'sha256'];
  return paths.flatMap((path) =>
    fields.map((field) => ({
      name: `${field}: ${path}`,
      run: async () => {
        const { root, elsewhere } = newFolders();
        const files = [{ ...entry, [field]: path }];
        writeFileSync(join(root, 'manifest.json'), JSON.stringify({ manifest: 1, files }));
        await expectUntouched(root, elsewhere, async () => {
          await run(root, true).catch((error: unknown) => {
            // What is refused stays as it was planted; it is no work of ours.
            rmSync(join(root, 'manifest.json'));
            throw error;
          });
        });
      },
    })),
  );
});

attack('folders that become links while a file is written into them (Linux)', () =>
  existsSync('/proc/self/fd')
    ? ['stream=events', DAY_FOLDER].flatMap((place) =>
        Array.from({ length: 50 }, (_, index) => ({
          name: `${place}, ${index}`,
          run: async () => {
            const { root, elsewhere } = newFolders();
            await expectUntouched(root, elsewhere, () =>
              writeWhole(root, FILE, async (file) => {
                await file.writeFile('half');
                renameSync(join(root, place), join(root, 'moved'));
                symlinkSync(join(elsewhere, 'folder'), join(root, place));
                await file.writeFile('whole');
              }),
            );
          },
        })),
      )
    : [],
);
