/**
 * ClickHouse as a library (chdb), in a process of its own: what it does to signals and memory is not our tests' concern. It takes
 * half a gigabyte, so it is no dependency: `CHDB_FOLDER` names a folder into which npm has installed it.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type TestFunction, test } from 'vitest';
import { CHDB } from './tool.ts';

const FOLDER = process.env.CHDB_FOLDER;
const PROGRAM = `
const { query } = require(process.argv[1]);
process.stdout.write(query(process.argv[2], 'JSONCompactEachRow'));
`;
const LONGEST_MS = 120_000;

/** Whether it can be asked. */
export const hasClickHouse = FOLDER !== undefined;

/** A test that asks ClickHouse. */
export function testWithClickHouse(name: string, body: TestFunction, timeout?: number): void {
  if (!hasClickHouse) test.skip(`${name} [skipped: ${CHDB} not installed]`);
  else test(name, body, timeout);
}

/** Asks ClickHouse, which reads files below `folder` only; 64 bits come as text. */
export async function askClickHouse(
  folder: string,
  sql: string,
  settings: Readonly<Record<string, number>> = {},
): Promise<unknown[][]> {
  const all = Object.entries({ ...settings, output_format_json_quote_64bit_integers: 1 });
  const set = all.map(([name, value]) => `${name} = ${value}`).join(', ');
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['-e', PROGRAM, join(FOLDER ?? '', 'node_modules/chdb'), `${sql} settings ${set}`],
    { cwd: folder, timeout: LONGEST_MS, maxBuffer: 64 * 1024 * 1024 },
  );
  return stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
}
