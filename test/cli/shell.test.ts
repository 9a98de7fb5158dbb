/** What shells know of daywalk: completion, tried in each shell that is installed, and the manual page. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { manPage } from '../../src/cli/man-page.ts';
import { packageVersion } from '../../src/cli/package-version.ts';
import { SHELLS } from '../../src/cli/verb.ts';
import { completionScript } from '../../src/cli/verbs/completion.ts';
import { VERBS } from '../../src/cli/verbs.ts';
import { EXIT } from '../../src/errors.ts';
import { ROWS } from '../../src/settings/table/table.ts';
import { temporaryFolder } from '../support/program.ts';
import { testWith } from '../support/tool.ts';

const sayAll = (program: string, args: readonly string[]): string[] =>
  execFileSync(program, args, { encoding: 'utf8' }).trim().split('\n').sort();

test.each(SHELLS)('the script for %s names every verb and every option', (shell) => {
  const script = completionScript(shell, VERBS);
  for (const { name, options = [] } of VERBS) {
    expect(script).toContain(name);
    for (const { long = '' } of options)
      expect(script).toContain(shell === 'fish' ? `-l ${long.slice(2)}` : long);
  }
});

describe('bash', () => {
  /** What is offered for the last word. */
  function offered(...words: string[]): string[] {
    const script = `${completionScript('bash', VERBS)}
COMP_WORDS=(daywalk ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}
_daywalk; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return sayAll('bash', ['-c', script]);
  }

  testWith(['bash'], 'completes verbs, options, and the values of options', () => {
    expect(offered('ver')).toEqual(['verify', 'version']);
    expect(offered('--config', 'x.yaml', 'ba')).toEqual(['backfill']);
    expect(offered('backfill', '--on')).toEqual(['--only']);
    expect(offered('backfill', '--only', '')).toEqual(['all', 'failed', 'missing']);
    expect(offered('run', '--keep-bytes', 'a')).toEqual(['always']);
    expect(offered('completion', '')).toEqual(expect.arrayContaining(['bash', 'fish', 'zsh']));
  });
});

testWith(['zsh'], 'zsh completes the values of options', () => {
  const file = join(temporaryFolder(), '_daywalk');
  writeFileSync(file, completionScript('zsh', VERBS));
  const script = `autoload -U compinit; compinit -u -D; source ${file}
COMP_WORDS=(daywalk backfill --only ''); COMP_CWORD=3
emulate sh -c _daywalk; print -l $COMPREPLY`;
  expect(sayAll('zsh', ['-f', '-c', script])).toEqual(['all', 'failed', 'missing']);
});

testWith(['fish'], 'fish completes verbs, options, and the values of options', () => {
  const file = join(temporaryFolder(), 'daywalk.fish');
  writeFileSync(file, completionScript('fish', VERBS));
  const offered = (line: string) =>
    sayAll('fish', ['--no-config', '-c', `source ${file}; complete -C '${line}'`]).map(
      (found) => found.split('\t')[0],
    );
  expect(offered('daywalk ver')).toEqual(['verify', 'version']);
  expect(offered('daywalk backfill --onl')).toEqual(['--only']);
  expect(offered('daywalk backfill --only ')).toEqual(['all', 'failed', 'missing']);
});

describe('the manual page', () => {
  const file = new URL('../../docs/daywalk.1', import.meta.url);

  test('is the one in docs; `npm run docs` writes it', () => {
    expect(readFileSync(file, 'utf8')).toBe(`${manPage(packageVersion())}\n`);
  });

  testWith(
    ['groff'],
    'is shown without a warning, and tells verbs, settings and exit codes',
    () => {
      const shown = execFileSync('groff', ['-man', '-Tutf8', '-P-cbou', '-ww', file.pathname], {
        encoding: 'utf8',
      });
      for (const { name } of VERBS) expect(shown).toContain(name);
      for (const { env } of ROWS) expect(shown).toContain(env[0]);
      for (const code of Object.values(EXIT)) expect(shown).toMatch(new RegExp(`^ +${code} `, 'm'));
    },
  );
});
