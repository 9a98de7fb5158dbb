/** The command line: verbs, their options and help, made from the tables of verbs and settings. */
import { Argument, Command, Option } from 'commander';
import { EXIT_MEANINGS, SettingsError } from '../errors.ts';
import { isSecret } from '../settings/table/setting.ts';
import { ROWS, SECRET_FILES, SETTINGS, type SettingRow } from '../settings/table/table.ts';
import { packageVersion } from './package-version.ts';
import type { Options, VerbRow } from './verb.ts';
import { VERBS } from './verbs.ts';

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
    .version(packageVersion(), '-v, --version', 'the version')
    .exitOverride()
    .helpCommand(false)
    .configureOutput({ outputError: (text, write) => write(withoutValue(text)) })
    .showHelpAfterError(
      '(options stand behind the verb: daywalk status --json; daywalk --help tells more)',
    )
    .addHelpText('after', AFTER_HELP);
  const given: Given = new Map();
  // It may stand before the verb, too.
  const config = new Option('--config <file>', SETTINGS.config.description);
  program.addOption(config);
  onlyOnce(program, config, given);
  const perform = async ({ load }: VerbRow, options: Options) => {
    const run = await load();
    onEnd(await run({ options, signal }));
  };
  for (const row of VERBS) addVerb(program, row, given, perform);
  // Commander's own shows everything where a verb is not known, and does not say so.
  program
    .command('help')
    .description('the help of a verb')
    .addArgument(new Argument('[verb]').choices(VERBS.map(({ name }) => name)))
    .action((verb) => (program.commands.find((one) => one.name() === verb) ?? program).help());
  return program;
}

/** Runs a verb with what was given. */
type Perform = (row: VerbRow, options: Options) => Promise<void>;
type Given = Map<string, Option>;

function addVerb(program: Command, row: VerbRow, given: Given, perform: Perform): void {
  const { name, does, options = [], argument, page, example } = row;
  const command = program
    .command(name)
    .description(does)
    .showHelpAfterError(
      `(${example === undefined ? '' : `for example: daywalk ${example}; `}daywalk ${name} --help tells more)`,
    );
  if (argument !== undefined) command.addArgument(argument);
  for (const option of options) command.addOption(option);
  addSettings(command, row);
  for (const option of command.options) if (option.required) onlyOnce(command, option, given);
  if (page !== undefined) command.addHelpText('after', `\nMore: docs/${page}`);
  command.action((...called: unknown[]) => {
    const words = argument === undefined ? {} : { [argument.name()]: called[0] };
    const all = command.optsWithGlobals();
    // What is wrong with its names is told of the spelling that was typed.
    const typed = given.get('streams')?.long === '--stream' ? { stream: all.streams } : {};
    return perform(row, { ...all, ...typed, ...words });
  });
}

/**
 * Of a flag that stands twice, be it before and behind the verb or in another spelling, one would not be heard.
 * @param given the flags that stand there so far, by what they set.
 */
function onlyOnce(command: Command, option: Option, given: Given): void {
  command.on(`option:${option.name()}`, () => {
    const sets = option.attributeName();
    if (given.has(sets))
      throw new SettingsError(`${given.get(sets)?.long} stands twice`, {
        hint: 'Give it once; several names stand behind it with commas: --streams events,smart-event.',
      });
    given.set(sets, option);
  });
}

/** What is said of an option or a verb that is none, without its value, which may be a secret: `--apikey=…`, `help KEY=…`. */
const withoutValue = (text: string): string =>
  text.replace(/(?<=^error: (?:unknown \w+|command-argument value) '[^'=]*=).*(?=')/s, '…');

/** The settings that the verb obeys: in its help are the few that go with it, in that of `--help-all` every one. */
function addSettings(command: Command, { settings, options = [], shows = [] }: VerbRow): void {
  const rows = ROWS.filter((row) => settings.includes(row.group));
  if (rows.length === 0) return;
  for (const row of rows) if (isSecret(row.kind)) command.addOption(refused(row));
  const more = rows.flatMap((row) => {
    if (row.flag === null) return [];
    const flag = `${row.flag} ${row.placeholder}`.trimEnd();
    const option = new Option(flag, aboutSetting(row, `env: ${row.env[0]}`));
    command.addOption(option);
    return { option, group: row.group, shown: row.key === 'config' || shows.includes(row.key) };
  });
  let all = false;
  // Not before somebody asks for help: what is hidden is not suggested to those who mistype it, either.
  command.addHelpText('before', () => {
    for (const { option, group, shown } of more)
      if (all) option.helpGroup(`${group} settings:`);
      else option.hideHelp(!shown);
    return '';
  });
  if (rows.some(({ key }) => key === 'streams') && !options.some(({ long }) => long === '--stream'))
    command.addOption(
      Object.assign(new Option('--stream <names>', 'the same as --streams').hideHelp(), {
        attributeName: () => 'streams',
      }),
    );
  command.option('--help-all', 'this help, with every setting that the verb obeys');
  command.on('option:help-all', () => {
    all = true;
    command.addHelpText('after', () => withoutFlag(command, rows));
    command.help();
  });
}

/** A secret as a flag: everybody on the machine could read it. */
function refused({ key, name, env: [variable] }: SettingRow): Option {
  const flag = `--${name.replaceAll(/[._]/g, '-')}`;
  const hasFile = SECRET_FILES.some(([secret]) => secret === key);
  const file = hasFile ? `, or ${variable}_FILE to a file that holds it` : '';
  return new Option(`${flag} <secret>`).hideHelp().argParser(() => {
    throw new SettingsError(`there is no flag ${flag}: a command line is no place for a secret`, {
      hint: `Set ${variable} in the environment${file}.`,
    });
  });
}

const aboutSetting = (
  { description, default: fallback, unset }: SettingRow,
  ...more: readonly string[]
): string => `${description} (${[`default: ${fallback ?? unset}`, ...more].join('; ')})`;

/** Those of these settings that no flag sets, as help lists options. */
function withoutFlag(command: Command, settings: readonly SettingRow[]): string {
  const rows = settings.filter(({ flag }) => flag === null);
  if (rows.length === 0) return '';
  const help = command.createHelp();
  help.prepareContext({ helpWidth: command.configureOutput().getOutHelpWidth?.() ?? 80 });
  const width = Math.max(...rows.map(({ env }) => env[0].length));
  const lines = rows.map((row) => {
    const more = row.inFile ? [`in the file: ${row.name}`] : [];
    return help.formatItem(row.env[0], width, aboutSetting(row, ...more), help);
  });
  return ['', 'Settings without a flag, from the environment:', ...lines].join('\n');
}

const AFTER_HELP = `
Exit codes:
${EXIT_MEANINGS.map(([code, meaning]) => `  ${String(code).padEnd(3)}  ${meaning}`).join('\n')}

Settings come from flags over the environment over daywalk.yaml over defaults;
the key and the database URL from the environment or a file only:
  DAYWALK_API_KEY, DAYWALK_API_KEY_FILE, DATABASE_URL, DATABASE_URL_FILE
With --embedded, init and run make a Postgres of their own below .daywalk/.`;
