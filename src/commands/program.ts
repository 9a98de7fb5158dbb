/** The command line: verbs, their options and help; what a verb does is loaded when it is called. */
import { Command, Option } from 'commander';
import { flagsOf } from '../config/flags.ts';
import type { Group } from '../config/setting.ts';
import { ROWS } from '../config/table.ts';
import type { Verb } from './verb.ts';
import { version } from './version.ts';

const STORE: readonly Group[] = ['General', 'Database', 'Log'];
const READ: readonly Group[] = [...STORE, 'Schedule', 'Streams'];
const EVERYTHING: readonly Group[] = [...READ, 'API', 'Walking', 'Alerts'];

const events = () =>
  new Option(
    '--json-events',
    'what happens as JSON lines on stdout, the report as the last (docs/events.schema.json)',
  ).conflicts(['json', 'quiet']);
const quiet = () =>
  new Option('--quiet', 'no progress, warnings and errors only; a result only if it is not done');
const json = () => new Option('--json', 'one JSON document on stdout, for programs');

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
    .addHelpText('after', EXIT_CODES);

  const verb = (
    name: string,
    does: string,
    groups: readonly Group[],
    load: () => Promise<Verb>,
    own: readonly Option[] = [],
    argument?: string,
  ) => {
    const command = program.command(name).description(does).exitOverride();
    if (argument !== undefined) command.argument(`<${argument}>`, `${argument}, YYYY-MM-DD`);
    for (const option of own) command.addOption(option);
    for (const spec of flagsOf(ROWS.filter((row) => groups.includes(row.group))))
      command.addOption(
        new Option(spec.flag, spec.description).helpGroup(`${spec.group} settings:`),
      );
    command.action(async (...called: unknown[]) => {
      const run = await load();
      const given = argument === undefined ? {} : { [argument]: called[0] };
      onEnd(await run({ options: { ...command.opts(), ...given }, signal }));
    });
  };

  verb(
    'init',
    'write a commented daywalk.yaml from flags and environment, and examine it as doctor does',
    EVERYTHING,
    async () => (await import('./init.ts')).init,
    [new Option('--force', 'write over a file that is there')],
  );
  verb(
    'run',
    'one catch-up pass: plan, walk, report',
    EVERYTHING,
    async () => (await import('./run.ts')).run,
    [json(), events(), quiet()],
  );
  verb(
    'worker',
    'the daemon: a catch-up pass at every tick of the schedule; serves status page, health and metrics',
    [...EVERYTHING, 'Status page'],
    async () => (await import('./worker.ts')).worker,
  );
  verb(
    'backfill',
    'plan and walk an inclusive range of days',
    EVERYTHING,
    async () => (await import('./backfill.ts')).backfillVerb,
    [
      new Option('--from <day>', 'first day, YYYY-MM-DD').makeOptionMandatory(),
      new Option('--to <day>', 'last day, YYYY-MM-DD').makeOptionMandatory(),
      new Option('--stream <names>', 'only these streams, separated by commas'),
      new Option(
        '--only <which>',
        'missing, failed or all, complete ones too (default: missing and failed)',
      ).choices(['missing', 'failed', 'all']),
      new Option('--newest-first', 'walk the newest day first'),
      new Option('--dry-run', 'print the windows and what would be done with them, and do nothing'),
      json(),
      events().conflicts(['json', 'quiet', 'dryRun']),
      quiet(),
    ],
  );
  verb(
    'status',
    'coverage calendar, totals, what runs now',
    READ,
    async () => (await import('./status.ts')).status,
    [
      new Option('--months <n>', 'months in the calendar, the present one included (default: 13)'),
      json(),
    ],
  );
  verb(
    'why',
    'the story of a day: windows, walks, proof, errors, and the command that mends it',
    READ,
    async () => (await import('./why.ts')).why,
    [new Option('--stream <names>', 'only these streams, separated by commas'), json()],
    'day',
  );
  verb(
    'verify',
    'compare what is stored with the source, or with its own digests; exit code 3 when anything differs',
    EVERYTHING,
    async () => (await import('./verify.ts')).verify,
    [
      new Option('--from <day>', 'first day, YYYY-MM-DD (default: all days)'),
      new Option('--to <day>', 'last day, YYYY-MM-DD'),
      new Option('--stream <names>', 'only these streams, separated by commas'),
      new Option('--deep', 'fetch every page again and compare record by record'),
      new Option('--offline', 'recompute pages, walks and ledger without the source'),
      json(),
    ],
  );
  verb(
    'gaps',
    'what is missing, and the command that fills it; exit code 3 when there is any',
    READ,
    async () => (await import('./gaps.ts')).gaps,
    [json()],
  );
  verb(
    'doctor',
    'check API, key, envelope, database, schema and time zone; every red line says what to do',
    EVERYTHING,
    async () => (await import('./doctor.ts')).doctor,
    [json()],
  );
  verb(
    'export',
    'records of complete days as files, one folder a day, with a manifest; exit code 3 when days are not complete',
    READ,
    async () => (await import('./export.ts')).exportVerb,
    [
      new Option('--out <folder>', 'where to write').makeOptionMandatory(),
      new Option('--format <format>', 'what to write')
        .choices(['ndjson', 'ndjson.gz', 'parquet'])
        .default('ndjson.gz'),
      new Option('--from <day>', 'first day, YYYY-MM-DD (default: the first day there is)'),
      new Option('--to <day>', 'last day, YYYY-MM-DD (default: the last closed day)'),
      new Option('--stream <names>', 'only these streams, separated by commas'),
      new Option(
        '--check-files',
        'compare files that are there with their digests, and write those that differ again (default: sizes only)',
      ),
      json(),
    ],
  );
  verb(
    'prune',
    'remove what is older than it is wanted; without --yes it only says what would go; exit code 3 when days must stay',
    READ,
    async () => (await import('./prune.ts')).pruneVerb,
    [
      new Option('--older-than <age>', 'since the day closed, such as 400d (default: retention)'),
      new Option('--superseded', 'only walks that a later walk replaced; the days stay'),
      new Option(
        '--require-export <folder>',
        'only days whose file is in this folder of `daywalk export`, as they are published now',
      ),
      new Option('--stream <names>', 'only these streams, separated by commas'),
      new Option('--yes', 'do it'),
      json(),
    ],
  );
  verb(
    'fields',
    'which fields the stored records have, since when, how often, and a value of each',
    READ,
    async () => (await import('./fields.ts')).fields,
    [
      new Option('--from <day>', 'first day, YYYY-MM-DD (default: the first day there is)'),
      new Option('--to <day>', 'last day, YYYY-MM-DD (default: the last day there is)'),
      new Option('--stream <names>', 'only these streams, separated by commas'),
      new Option('--all', 'look at every record (default: some records of at most 60 days)'),
      json(),
    ],
  );
  verb(
    'serve-archive',
    'answer the two operations of the API from what is stored, until stopped',
    [...READ, 'Archive'],
    async () => (await import('./serve-archive.ts')).serveArchiveVerb,
    [
      new Option('--stream <names>', 'only these streams, separated by commas'),
      new Option(
        '--allow-incomplete',
        'answer from what is published of days that are not complete, too (default: an error)',
      ),
    ],
  );
  verb(
    'config',
    'every effective setting and where it came from, secrets masked',
    EVERYTHING,
    async () => (await import('./config.ts')).config,
    [json()],
  );
  verb(
    'migrate',
    'bring the schema of the database up',
    STORE,
    async () => (await import('./migrate.ts')).migrateVerb,
    [new Option('--dry-run', 'list what would be applied, and do nothing')],
  );
  verb(
    'demo',
    'a simulated API and a Postgres of its own: exports a week and shows it',
    ['Log'],
    async () => (await import('./demo.ts')).demo,
  );
  return program;
}

const EXIT_CODES = `
Exit codes:
  0  done
  1  unexpected error
  2  usage or settings
  3  finished with failed windows or gaps
  4  key refused
  5  API or database away after retries
  130, 143  interrupted, checkpoint safe

Settings come from flags over the environment over daywalk.yaml over defaults;
the key and the database URL from the environment or a file only:
  DAYWALK_API_KEY, DAYWALK_API_KEY_FILE, DATABASE_URL, DATABASE_URL_FILE
Without DATABASE_URL daywalk starts a Postgres of its own below .daywalk/.`;
