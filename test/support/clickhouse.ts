/** ClickHouse as a library (chdb), in a process of its own: what it does to signals and memory is not our tests' concern. */
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { promisify } from 'node:util';

const require = createRequire(import.meta.url);
const LIBRARY = require.resolve('chdb');
const PROGRAM = `
const { query } = require(process.argv[1]);
process.stdout.write(query(process.argv[2], 'JSONCompactEachRow'));
`;
const LONGEST_MS = 120_000;

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
    ['-e', PROGRAM, LIBRARY, `${sql} settings ${set}`],
    { cwd: folder, timeout: LONGEST_MS, maxBuffer: 64 * 1024 * 1024 },
  );
  return stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
}
