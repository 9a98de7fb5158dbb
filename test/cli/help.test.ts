/** Help: each verb tells every option and every setting that it obeys, with the default and the variable. */
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { readProgram } from '../../src/cli/program.ts';
import { VERBS } from '../../src/cli/verbs.ts';
import { EXIT } from '../../src/errors.ts';
import { ROWS } from '../../src/settings/table/table.ts';

const program = readProgram(new AbortController().signal, () => {});

/** What `--help` prints, its broken lines made whole. */
function helpOf(command: Command): string {
  let text = '';
  const write = (part: string) => {
    text += part;
  };
  command.configureOutput({ writeOut: write, getOutHelpWidth: () => 80 }).outputHelp();
  return text.replaceAll(/\s+/g, ' ');
}

test('the program lists every verb and every exit code', () => {
  const help = helpOf(program);
  for (const { name, does } of VERBS) {
    expect(help).toContain(` ${name} `);
    expect(help).toContain(does);
  }
  for (const code of Object.values(EXIT)) expect(help).toContain(` ${code} `);
});

describe.each(VERBS.map((row) => [row.name, row] as const))('%s', (name, row) => {
  const command = program.commands.find((one) => one.name() === name) as Command;
  const help = helpOf(command);

  test('says of every setting its default and its variable', () => {
    for (const setting of ROWS.filter(({ group }) => row.settings.includes(group))) {
      const { flag, description, env, default: fallback, unset } = setting;
      const told = help.split(`${flag ?? env[0]} `).find((part) => part.includes(description));
      expect(told, env[0]).toContain(`(default: ${fallback ?? unset}`);
      expect(help).toContain(flag === null ? ` ${env[0]} ` : `env: ${env[0]})`);
    }
  });

  test('says of every option of its own that takes a value what holds without it', () => {
    for (const { flags, required, description, defaultValue, mandatory } of row.options ?? []) {
      if (!required) continue;
      const told = defaultValue === undefined ? description : `default: "${defaultValue}"`;
      expect(help).toContain(told);
      expect(told, flags).toMatch(mandatory ? /\(required\)$/ : /default: .+/);
    }
  });

  test('says of options and settings nothing that the docs have not', () => {
    const known = new Set([
      ...ROWS.map(({ flag }) => flag),
      ...(row.options ?? []).map(({ long }) => long),
    ]);
    for (const { long } of command.options) expect(known).toContain(long);
  });
});
