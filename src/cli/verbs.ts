/** The table of the verbs: names, options and what each does in a line; help and docs/verbs.md come from it. */
import { Argument, Option } from 'commander';
import type { Group } from '../settings/table/setting.ts';
import { DAYS_TAKEN, SHELLS, type VerbRow } from './verb.ts';

const STORE: readonly Group[] = ['General', 'Database', 'Log'];
const READ: readonly Group[] = [...STORE, 'Schedule', 'Streams'];
const EVERYTHING: readonly Group[] = [...READ, 'API', 'Walking', 'Tier', 'Alerts'];

const json = () => new Option('--json', 'one JSON document on stdout, for programs');
const jsonEvents = (...others: readonly string[]) =>
  new Option(
    '--json-events',
    'what happens as JSON lines on stdout, the report as the last (docs/events.schema.json)',
  ).conflicts(['json', 'quiet', ...others]);
const quiet = () =>
  new Option(
    '--quiet',
    'no progress; warnings and errors, and the result only if something is left to do',
  );
const stream = () =>
  new Option('--stream <names>', 'only these streams, with commas between them (default: all)');
const to = (unset: string) => new Option('--to <day>', `last day, inclusive (default: ${unset})`);
/** Which days of which streams; the first and the last day are those that are taken where none is given. */
const days = (first: string, last: string) => [
  new Option('--from <day>', `first day: ${DAYS_TAKEN} (default: ${first})`),
  to(last),
  stream(),
];

/** Every verb, in the order in which they are shown. */
const TABLE: Readonly<Record<string, Omit<VerbRow, 'name'>>> = {
  init: {
    does: 'writes a commented `daywalk.yaml` from flags and environment, and examines it as `doctor` does',
    settings: EVERYTHING,
    load: async () => (await import('./verbs/init.ts')).init,
    options: [new Option('--force', 'write over a file that is there')],
    shows: ['embedded'],
  },
  run: {
    does: 'one catch-up pass: plans, walks, reports, exits',
    settings: EVERYTHING,
    load: async () => (await import('./verbs/run.ts')).run,
    options: [json(), jsonEvents(), quiet()],
    shows: ['embedded'],
  },
  worker: {
    does: 'the daemon: one pass at the start and one at every tick of `schedule`; serves status page, health and metrics',
    settings: [...EVERYTHING, 'Status page'],
    load: async () => (await import('./verbs/worker.ts')).worker,
    page: 'monitoring.md',
  },
  backfill: {
    does: 'plans and walks an inclusive range of days',
    settings: EVERYTHING,
    load: async () => (await import('./verbs/backfill.ts')).backfillVerb,
    example: 'backfill --from 2026-10-01 --to 2026-10-31',
    options: [
      new Option('--from <day>', `first day: ${DAYS_TAKEN} (required)`).makeOptionMandatory(),
      to('the newest closed day'),
      stream(),
      new Option(
        '--only <which>',
        'missing, failed or all, complete ones too (default: missing and failed)',
      ).choices(['missing', 'failed', 'all']),
      new Option('--newest-first', 'walk the newest day first'),
      new Option('--dry-run', 'print the windows and what would be done with them, and do nothing'),
      json(),
      jsonEvents('dryRun'),
      quiet(),
    ],
  },
  status: {
    does: 'the coverage calendar, totals, what runs, what is wrong and the command that mends it',
    settings: READ,
    load: async () => (await import('./verbs/status.ts')).status,
    options: [
      new Option('--months <n>', 'months in the calendar, the present one included (default: 13)'),
      json(),
    ],
  },
  why: {
    does: 'the story of a day: windows, walks, proof, splits, late records, errors, and the command that mends it',
    settings: READ,
    load: async () => (await import('./verbs/why.ts')).why,
    options: [stream(), json()],
    argument: new Argument('<day>', 'such as 2026-10-31, today, yesterday or 7d (days ago)'),
    example: 'why yesterday',
  },
  verify: {
    does: 'compares stored days with the source, or with their own digests; exit code 3 when anything differs, or the source could be asked for none of them',
    settings: EVERYTHING,
    load: async () => (await import('./verbs/verify.ts')).verify,
    options: [
      ...days('the first day there is', 'the newest closed day'),
      new Option('--deep', 'fetch every page again and compare record by record').conflicts(
        'offline',
      ),
      new Option('--offline', 'recompute pages, walks and ledger without the source'),
      json(),
    ],
    page: 'ledger.md',
  },
  gaps: {
    does: 'what is missing, and the command that fills it; exit code 3 when there is any',
    settings: READ,
    load: async () => (await import('./verbs/gaps.ts')).gaps,
    options: [json()],
  },
  accept: {
    does: 'says that the source is right, though it changed its answers or lost events; what is stored stays',
    settings: READ,
    load: async () => (await import('./verbs/accept.ts')).accept,
    options: [stream()],
    page: 'completeness.md',
  },
  doctor: {
    does: 'checks what a run needs, each once and within seconds, or as slowly as `rate` says: secrets, versions, database, streams, the last failure, API, time zone; every red line says what to do',
    settings: EVERYTHING,
    load: async () => (await import('./verbs/doctor.ts')).doctor,
    options: [new Option('--test-webhook', 'send the webhook a test message'), json()],
  },
  export: {
    does: 'records of complete days, or a record table, as files, one folder a day, with a manifest; exit code 3 when days are not complete',
    settings: [...READ, 'Tier'],
    load: async () => (await import('./verbs/export.ts')).exportVerb,
    example: 'export --out archive --from 2026-10',
    options: [
      new Option('--out <folder>', 'where to write (required)').makeOptionMandatory(),
      new Option(
        '--format <format>',
        'what to write (default: as the folder has; ndjson.gz, of a table parquet)',
      ).choices(['ndjson', 'ndjson.gz', 'parquet']),
      new Option('--table <name>', 'the rows of a record table (default: the records)').conflicts(
        'stream',
      ),
      ...days('the first day there is', 'the last closed day'),
      new Option(
        '--check-files',
        'compare files that are there with their digests, and write those that differ again (default: sizes only)',
      ),
      json(),
    ],
    page: 'files.md',
  },
  prune: {
    does: 'says what is older than `retention` allows and how much space it takes; removes it with `--yes`; exit code 3 when days must stay',
    settings: READ,
    load: async () => (await import('./verbs/prune.ts')).pruneVerb,
    options: [
      new Option('--older-than <age>', 'since the day closed, such as 400d (default: retention)'),
      new Option('--superseded', 'only walks that a later walk replaced; the days stay'),
      new Option(
        '--require-export <folder>',
        'only days whose file is in this folder of `daywalk export`, as they are shown now (default: whether exported or not)',
      ).conflicts('superseded'),
      stream(),
      new Option('--yes', 'do it'),
      json(),
    ],
    page: 'pruning.md',
  },
  tier: {
    does: 'moves old days to a folder or bucket as Parquet in a Delta Lake table, and brings them back with `--restore`; exit code 3 when days must stay',
    settings: [...READ, 'Tier'],
    load: async () => (await import('./verbs/tier.ts')).tierVerb,
    example: 'tier --older-than 90d',
    options: [
      new Option('--older-than <age>', 'since the day closed, such as 90d (default: tier.after)'),
      new Option('--restore', 'bring the days of a range back').conflicts(['olderThan']),
      new Option('--from <day>', `first day that comes back: ${DAYS_TAKEN} (default: none)`),
      new Option('--to <day>', 'last day that comes back, inclusive (default: the first)'),
      stream(),
      new Option('--dry-run', 'say what would be done, and do nothing'),
      json(),
    ],
    page: 'tier.md',
  },
  fields: {
    does: 'which fields the stored records have, since when, how often, and a value of each',
    settings: READ,
    load: async () => (await import('./verbs/fields.ts')).fields,
    options: [
      ...days('the first day there is', 'the last day there is'),
      new Option('--all', 'look at every record (default: some records of at most 60 days)'),
      json(),
    ],
    page: 'queries.md',
  },
  tables: {
    does: 'the record tables and how far they are in step; `--apply` makes those of the settings, `--suggest` prints some',
    settings: READ,
    load: async () => (await import('./verbs/tables.ts')).tablesVerb,
    options: [
      new Option('--apply', 'make the tables as the settings define them, and fill them').conflicts(
        ['suggest', 'drop'],
      ),
      new Option(
        '--rebuild <names>',
        'build these anew, with commas between them (default: those that changed)',
      ).conflicts(['suggest', 'drop']),
      new Option(
        '--drop <name>',
        'take away a table that the settings do not define any more (default: none)',
      ),
      new Option(
        '--suggest',
        'print tables for daywalk.yaml, from the fields that the records have',
      ),
      stream(),
      json(),
    ],
    page: 'tables.md',
  },
  search: {
    does: 'the stored records that hold a value anywhere, and of which days "nothing" counts; exit code 3 when days are not proven',
    settings: [...READ, 'Tier'],
    load: async () => (await import('./verbs/search.ts')).searchVerb,
    options: [
      ...days('the first day that is kept', 'the last day there is'),
      new Option('--limit <n>', 'so many hits at most (default: 100; with --json all)'),
      new Option('--without-tier', 'leave out days that moved: they count as not proven'),
      json(),
    ],
    argument: new Argument(
      '<value>',
      'a whole string, number or boolean, exactly; behind -- if it begins with -',
    ),
    page: 'search.md',
  },
  'serve-archive': {
    does: 'answers the two operations of the API from what is stored, until it is stopped',
    settings: [...READ, 'Tier', 'Archive'],
    load: async () => (await import('./verbs/serve-archive.ts')).serveArchiveVerb,
    options: [stream()],
    page: 'serving.md',
  },
  config: {
    does: 'every effective setting and where it came from, secrets masked',
    settings: EVERYTHING,
    load: async () => (await import('./verbs/config.ts')).config,
    options: [json()],
  },
  migrate: {
    does: 'brings the schema of the database up to date',
    settings: STORE,
    load: async () => (await import('./verbs/migrate.ts')).migrateVerb,
    options: [new Option('--dry-run', 'list what would be applied, and do nothing')],
    page: 'operations.md',
  },
  demo: {
    does: 'a simulated API and a Postgres of its own: exports a week through refused requests and a killed process, and shows it',
    settings: ['Log'],
    load: async () => (await import('./verbs/demo.ts')).demo,
    options: [
      new Option('--days <n>', 'how many days are exported (default: 7)'),
      new Option('--events <n>', 'about how many events a day has (default: 12000)'),
    ],
  },
  completion: {
    does: 'prints the script that completes verbs and options in bash, zsh or fish',
    settings: [],
    load: async () => (await import('./verbs/completion.ts')).completionOf(VERBS),
    argument: new Argument('<shell>', 'source <(daywalk completion bash)').choices(SHELLS),
    example: 'completion bash',
  },
  version: {
    does: 'the versions of daywalk and of Node.js',
    settings: [],
    load: async () => (await import('./verbs/version.ts')).version,
  },
};

export const VERBS: readonly VerbRow[] = Object.entries(TABLE).map(([name, row]) => ({
  name,
  ...row,
}));
