/** The command line: verbs, their options and help, made from the tables of verbs and settings. */
import { Command, Option } from 'commander';
import { EXIT, EXIT_MEANINGS } from '../errors.ts';
import { type EnvironmentSpec, environmentOnly, flagsOf } from '../settings/table/flags.ts';
import { ROWS } from '../settings/table/table.ts';
import { VERBS, type VerbRow } from './verbs.ts';
import { version } from './version.ts';

/**
 * The program, ready to parse a command line.
 * @param signal aborts when someone asks the program to stop.
 * @param onEnd gets the exit code of the verb that ran.
 */
export function readProgram(signal: AbortSignal, onEnd: (code: number) => void): Command {
  const program = new Command('daywalk')
    .description(
      'Exports an Event Query API into Postgres, one day window at a time, and can show that nothing is missing.',
    )
    .version(version())
    .exitOverride()
    .configureHelp({ sortSubcommands: false })
    .showHelpAfterError('(daywalk --help tells more)')
    .addHelpText('after', AFTER_HELP);
  for (const row of VERBS) addVerb(program, row, signal, onEnd);
  return program;
}

const ARGUMENTS: Readonly<Record<NonNullable<VerbRow['argument']>, string>> = {
  day: 'such as 2026-10-31, today, yesterday or 7d (days ago)',
  value: 'a whole string, number or boolean, exactly; behind -- if it begins with -',
};

function addVerb(
  program: Command,
  { name, does, settings, load, options = [], argument, page }: VerbRow,
  signal: AbortSignal,
  onEnd: (code: number) => void,
): void {
  const command = program.command(name).description(does).exitOverride();
  if (argument !== undefined) command.argument(`<${argument}>`, ARGUMENTS[argument]);
  for (const option of options) command.addOption(option);
  const rows = ROWS.filter((row) => settings.includes(row.group));
  for (const { flag, description, group } of flagsOf(rows))
    command.addOption(new Option(flag, description).helpGroup(`${group} settings:`));
  command.addHelpText('after', () => withoutFlag(command, environmentOnly(rows)));
  if (page !== undefined) command.addHelpText('after', `\nMore: ${page}`);
  command.action(async (...called: unknown[]) => {
    const run = await load();
    const given = argument === undefined ? {} : { [argument]: called[0] };
    onEnd(
      await run({ options: { ...command.opts(), ...given }, typed: process.argv.slice(2), signal }),
    );
  });
}

/** The settings that no flag sets, as help lists options. */
function withoutFlag(command: Command, specs: readonly EnvironmentSpec[]): string {
  if (specs.length === 0) return '';
  const help = command.createHelp();
  help.prepareContext({ helpWidth: command.configureOutput().getOutHelpWidth?.() ?? 80 });
  const width = Math.max(...specs.map(({ variable }) => variable.length));
  const lines = specs.map(({ variable, description }) =>
    help.formatItem(variable, width, description, help),
  );
  return ['', 'Settings without a flag, from the environment:', ...lines].join('\n');
}

const AFTER_HELP = `
Exit codes:
${(Object.keys(EXIT) as (keyof typeof EXIT)[])
  .map((name) => `  ${String(EXIT[name]).padEnd(3)}  ${EXIT_MEANINGS[name]}`)
  .join('\n')}

Settings come from flags over the environment over daywalk.yaml over defaults;
the key and the database URL from the environment or a file only:
  DAYWALK_API_KEY, DAYWALK_API_KEY_FILE, DATABASE_URL, DATABASE_URL_FILE
With --embedded, init and run make a Postgres of their own below .daywalk/.`;
