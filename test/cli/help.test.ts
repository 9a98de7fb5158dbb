/** Help: each verb tells every option and every setting that it obeys, with the default and the variable. */
import { type Command, CommanderError } from 'commander';
import { describe, expect, test } from 'vitest';
import { readProgram } from '../../src/cli/program.ts';
import { VERBS } from '../../src/cli/verbs.ts';
import { EXIT } from '../../src/errors.ts';
import { ROWS } from '../../src/settings/table/table.ts';

const program = readProgram(new AbortController().signal, () => {});

/** What `--help` prints in 80 columns. */
function helpOf(command: Command): string {
  let text = '';
  const write = (part: string) => {
    text += part;
  };
  command.configureOutput({ writeOut: write, getOutHelpWidth: () => 80 }).outputHelp();
  return text;
}

/** What `VERB --help-all` prints, its broken lines made whole. */
function allHelpOf(name: string): string {
  const program = readProgram(new AbortController().signal, () => {});
  const command = verbIn(program, name);
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part), getOutHelpWidth: () => 80 });
  expect(() => program.parse(['node', 'daywalk', name, '--help-all'])).toThrow(CommanderError);
  return whole(text);
}

const whole = (text: string): string => text.replaceAll(/\s+/g, ' ');
const verbIn = (program: Command, name: string) =>
  program.commands.find((one) => one.name() === name) as Command;

test.each([
  [['--api-key=zqxjv', 'run'], "error: unknown option '--api-key=…'"],
  [['run', '--apikey=zqxjv'], "error: unknown option '--apikey=…'"],
  [['run', "--apikey=it's\nzqxjv"], "error: unknown option '--apikey=…'"],
  [['run', '--embedded=zqxjv'], "error: unknown option '--embedded=…'"],
  [['help', 'DAYWALK_API_KEY=zqxjv'], "error: command-argument value 'DAYWALK_API_KEY=…'"],
  [['run', '-apikey=zqxjv'], "error: unknown option '-apikey=…'"],
  [['DAYWALK_API_KEY=zqxjv', 'run'], "error: unknown command 'DAYWALK_API_KEY=…'"],
])('%j is told without what stands behind the =, which may be a secret', (args, told) => {
  let text = '';
  const writeErr = (part: string) => (text += part);
  const program = readProgram(new AbortController().signal, () => {});
  for (const command of [program, verbIn(program, 'run'), verbIn(program, 'help')])
    command.configureOutput({ writeErr });
  expect(() => program.parse(['node', 'daywalk', ...args])).toThrow(CommanderError);
  expect(text.split(/\n|\. Allowed/)[0]).toBe(told);
  expect(text).not.toContain('zqxjv');
});

test('the program lists every verb and every exit code', () => {
  const help = whole(helpOf(program));
  for (const { name, does } of VERBS) {
    expect(help).toContain(` ${name} `);
    expect(help).toContain(does);
  }
  for (const code of Object.values(EXIT)) expect(help).toContain(` ${code} `);
});

describe.each(VERBS.map((row) => [row.name, row] as const))('%s', (name, row) => {
  const command = verbIn(program, name);
  const help = row.settings.length === 0 ? whole(helpOf(command)) : allHelpOf(name);

  test('--help fits a screen', () => {
    expect(helpOf(command).trimEnd().split('\n').length).toBeLessThanOrEqual(24);
  });

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
      '--help-all',
    ]);
    for (const { long } of command.options.filter(({ hidden }) => !hidden))
      expect(known).toContain(long);
  });
});
