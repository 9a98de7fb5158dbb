/** The folder of an export: whoever plants links, pipes or paths in it leads no write and no read elsewhere. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { InterruptedError, SettingsError } from '../../src/errors.ts';
import { FORMATS, type Format, writeRows } from '../../src/files/contents.ts';
import { digestOfFile, sizeOf, writeWhole } from '../../src/files/folder.ts';
import { readManifest } from '../../src/files/manifest.ts';
import { withFile } from '../../src/rooted-files.ts';
import type { FileLine } from '../../src/written.ts';

const SECRET = 'the private key of somebody else';
const PATH = 'stream=events/day=2026-03-01/records.ndjson';
const folders: string[] = [];

/** A folder to export into, and a file elsewhere that nobody may touch. */
function planted(): { root: string; elsewhere: string; victim: string } {
  const folder = mkdtempSync(join(tmpdir(), 'daywalk-planted-'));
  folders.push(folder);
  const [root, elsewhere] = [join(folder, 'out'), join(folder, 'elsewhere')];
  for (const path of [root, elsewhere]) mkdirSync(path);
  const victim = join(elsewhere, 'records.ndjson');
  writeFileSync(victim, SECRET);
  return { root, elsewhere, victim };
}

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

const write = (root: string, path = PATH) =>
  writeWhole(root, path, (file) => file.writeFile('records'));

describe('writing', () => {
  test.each([
    ['half file', 'stream=events/day=2026-03-01/.records.ndjson.half'],
    ['file', PATH],
  ])('a link in place of the %s is replaced', async (_, path) => {
    const { root, victim } = planted();
    mkdirSync(join(root, path, '..'), { recursive: true });
    symlinkSync(victim, join(root, path));
    await write(root);
    expect(readFileSync(victim, 'utf8')).toBe(SECRET);
    expect(readFileSync(join(root, PATH), 'utf8')).toBe('records');
    expect(() => readlinkSync(join(root, PATH))).toThrow();
  });

  test('a second name of a file elsewhere, in place of the half file, is taken away', async () => {
    const { root, victim } = planted();
    const half = join(root, 'stream=events/day=2026-03-01/.records.ndjson.half');
    mkdirSync(join(half, '..'), { recursive: true });
    linkSync(victim, half);
    await write(root);
    expect(readFileSync(victim, 'utf8')).toBe(SECRET);
  });

  test.each(['stream=events', 'stream=events/day=2026-03-01'])(
    'a link in place of the folder %s is refused',
    async (path) => {
      const { root, elsewhere } = planted();
      mkdirSync(join(root, path, '..'), { recursive: true });
      symlinkSync(elsewhere, join(root, path));
      await expect(write(root)).rejects.toThrow(/a file or a link stands where a folder is needed/);
      expect(readdirSync(elsewhere)).toEqual(['records.ndjson']);
      expect(readFileSync(join(elsewhere, 'records.ndjson'), 'utf8')).toBe(SECRET);
    },
  );

  test.each(['../elsewhere/x', 'a/../../elsewhere/x', '/etc/x', 'a//x', 'a/./x', ''])(
    'the path "%s" is refused',
    async (path) => {
      const { root, elsewhere } = planted();
      await expect(write(root, path)).rejects.toThrow(SettingsError);
      expect(readdirSync(elsewhere)).toEqual(['records.ndjson']);
    },
  );

  test.runIf(existsSync('/proc/self/fd'))(
    'a folder that becomes a link while a file is written leads nowhere else',
    async () => {
      const { root, elsewhere } = planted();
      await writeWhole(root, PATH, async (file) => {
        execFileSync('mv', [join(root, 'stream=events'), join(root, 'moved')]);
        symlinkSync(elsewhere, join(root, 'stream=events'));
        mkdirSync(join(elsewhere, 'day=2026-03-01'));
        await file.writeFile('records');
      });
      expect(readdirSync(join(elsewhere, 'day=2026-03-01'))).toEqual([]);
      expect(readdirSync(join(root, 'moved/day=2026-03-01'))).toEqual(['records.ndjson']);
    },
  );

  /** A hundred rows, to be written into a file that `path` leads to. */
  const rowsInto = (path: string, format: Format, signal: AbortSignal) =>
    writeWhole(planted().root, PATH, async () => {
      const rows = (async function* () {
        for (let i = 0; i < 100; i++) yield [{ text: randomBytes(9_000).toString('hex') }];
      })();
      const column = { name: 'record', kind: 'text', of: ({ text }: FileLine) => text } as const;
      const file = await open(path, 'w');
      return writeRows(file, rows, [column], format, signal).finally(() => file.close());
    });

  test.runIf(existsSync('/dev/full')).each(FORMATS)(
    'a disk that is full is told as such of a file as %s',
    async (format) => {
      const filling = rowsInto('/dev/full', format, new AbortController().signal);
      await expect(filling).rejects.toThrow(/^no space is left for .*records\.ndjson$/);
    },
  );

  test.each(FORMATS)('who stops a file as %s is told as who did', async (format) => {
    const stopped = new InterruptedError('SIGINT');
    const stopping = rowsInto('/dev/null', format, AbortSignal.abort(stopped));
    await expect(stopping).rejects.toBe(stopped);
  });

  test('files are for their owner only', async () => {
    const { root } = planted();
    const fresh = join(root, 'new');
    await write(fresh);
    const modes = ['', 'stream=events', 'stream=events/day=2026-03-01', PATH].map(
      (path) => statSync(join(fresh, path)).mode & 0o777,
    );
    expect(modes).toEqual([0o700, 0o700, 0o700, 0o600]);
  });
});

describe('reading', () => {
  test('no link, pipe, folder or path elsewhere is read', async () => {
    const { root, victim, elsewhere } = planted();
    symlinkSync(victim, join(root, 'link'));
    symlinkSync(elsewhere, join(root, 'folder'));
    execFileSync('mkfifo', [join(root, 'pipe')]);
    for (const path of ['link', 'folder/records.ndjson', 'folder', 'pipe', '../elsewhere/x', '.']) {
      expect(await sizeOf(root, path)).toBeNull();
      await expect(digestOfFile(root, path)).rejects.toThrow();
      await expect(withFile(root, path, (file) => file.readFile())).rejects.toThrow();
    }
    writeFileSync(join(root, 'file'), 'abc');
    expect(await sizeOf(root, 'file')).toBe(3);
    expect(await digestOfFile(root, 'file')).toMatch(/^ba7816bf/);
  });

  const entry = {
    path: PATH,
    stream: 'events',
    day: '2026-03-01',
    format: 'ndjson',
    sha256: 'a'.repeat(64),
    bytes: 1,
    walks: [1],
  };
  const withFiles = (...files: unknown[]) => JSON.stringify({ manifest: 1, files });

  test.each<[string, string]>([
    ['a path elsewhere', withFiles({ ...entry, path: '../../../etc/passwd' })],
    ['an absolute path', withFiles({ ...entry, path: '/etc/passwd' })],
    ['a path of another day', withFiles({ ...entry, day: '2026-03-02' })],
    ['a day that leads elsewhere', withFiles({ ...entry, day: '../..', path: PATH })],
    [
      'a format that leads elsewhere',
      withFiles({
        ...entry,
        format: '/../x',
        path: 'stream=events/day=2026-03-01/records./../x',
      }),
    ],
    [
      'a line for the sums',
      withFiles({ ...entry, sha256: `${'a'.repeat(64)}  x\nb  /etc/passwd` }),
    ],
    ['nothing', withFiles(null)],
    ['a table without a name', withFiles({ ...entry, table: {} })],
    ['a table that is none', withFiles({ ...entry, table: null })],
    ['a list for a stream', withFiles({ ...entry, stream: ['events'] })],
  ])('a manifest with %s is none', async (_, text) => {
    const { root } = planted();
    writeFileSync(join(root, 'manifest.json'), text);
    await expect(readManifest(root)).rejects.toThrow(/is not a manifest/);
    writeFileSync(join(root, 'manifest.json'), withFiles(entry));
    expect((await readManifest(root))?.files).toHaveLength(1);
  });

  test('a link in place of the manifest is refused', async () => {
    const { root, victim } = planted();
    symlinkSync(victim, join(root, 'manifest.json'));
    await expect(readManifest(root)).rejects.toThrow(/a file or a link stands/);
  });
});
