/** Folders that `daywalk export` writes, and what they must hold. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { expect } from 'vitest';
import type { Manifest } from '../../src/files/manifest.ts';
import { difference, recordTexts } from '../support/multiset.ts';
import type { EndedHere } from '../support/program-here.ts';
import { type Scene, setExported } from '../support/scene.ts';

const DAYS = { from: '2026-03-01', to: '2026-03-03' };
export const RANGE = ['--from', DAYS.from, '--to', DAYS.to];
export const SETTINGS = { DAYWALK_STREAMS: 'events' };

/** Three days of events, exported into the database. */
export const stored = (): Promise<Scene> =>
  setExported(DAYS, SETTINGS, { envelope: 'hits', eventsPerDay: 150 });

/** Exports them into a folder. */
export const exportTo = (
  scene: Scene,
  folder: string,
  args: readonly string[] = [],
): Promise<EndedHere> => scene.here(['export', '--out', folder, ...RANGE, ...args], SETTINGS);

export const read = async (folder: string) =>
  JSON.parse(await readFile(join(folder, 'manifest.json'), 'utf8')) as Manifest;
export const path = (day: string, format: string) => `stream=events/day=${day}/records.${format}`;

export const run = promisify(execFile);

/** Expects that its sums are those of its files. */
export async function expectSums(folder: string): Promise<void> {
  await run('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: folder });
}

/** Expects the very text of each record in the files of a folder, and sums that prove it. */
export async function expectTexts(
  { database }: Scene,
  folder: string,
  format: 'ndjson' | 'ndjson.gz',
): Promise<void> {
  const manifest = await read(folder);
  expect(manifest.incomplete).toEqual([]);
  for (const file of manifest.files) {
    const bytes = await readFile(join(folder, file.path));
    const text = (format === 'ndjson' ? bytes : gunzipSync(bytes)).toString();
    const lines = text.split('\n').slice(0, -1);
    const wanted = await recordTexts(database, 'events', file.day);
    expect(difference(lines, wanted)).toEqual([]);
    expect(difference(wanted, lines)).toEqual([]);
    expect(file).toMatchObject({
      path: path(file.day, format),
      records: wanted.length,
      bytes: bytes.length,
      recordsSha256: createHash('sha256').update(text).digest('hex'),
      proof: expect.stringMatching(/total|probe|halves/),
      ledger: { entry: expect.any(Number), digest: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    // Integers past 2^53 and trailing zeros are there digit by digit.
    expect(text).toMatch(/"id": 9\d{18}\b/);
    expect(text).toMatch(/"score": \d\.\d0\b/);
  }
  expect(manifest.files).toHaveLength(3);
  await expectSums(folder);
}
