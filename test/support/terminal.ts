/** The program at a real terminal, a pseudo-terminal of `script` (Debian: bsdutils), with somebody who answers. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type ProgramOptions, temporaryFolder } from './program.ts';
import { tool } from './tool.ts';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** Runs the program to its end; `keys` are typed when it has asked something. */
export async function answeredAtTerminal(
  args: readonly string[],
  keys: string,
  { environment, folder = temporaryFolder() }: ProgramOptions,
): Promise<{ readonly code: number | null; readonly said: string }> {
  const command = [process.execPath, MAIN, ...args].map((word) => `'${word}'`).join(' ');
  const child = spawn(tool('script'), ['--quiet', '--return', '--command', command, '/dev/null'], {
    cwd: folder,
    env: { PATH: process.env.PATH, LANG: 'C.UTF-8', SHELL: '/bin/sh', ...environment },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const asked = said.includes('[y/N]');
    said += text;
    if (!asked && said.includes('[y/N]')) child.stdin.write(keys);
  });
  const [code] = await once(child, 'close');
  return { code, said };
}
