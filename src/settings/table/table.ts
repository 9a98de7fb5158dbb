/** The one table of every setting; help, validation, `daywalk config` and docs/settings.md come from it. */
import { AGE, choice, DAY, duration, HOUR, integer, KIB, MIB, MINUTE, SECOND } from './kinds.ts';
import { type Setting, secretKey, secretWithFile, section } from './setting.ts';
import { ROOMS } from './table-rooms.ts';

const general = section('General');
const api = section('API');
const proxy = section('API', { flag: null, inFile: false });
const database = section('Database');
const schedule = section('Schedule');
const streams = section('Streams');
const walking = section('Walking');
const log = section('Log');

/** Every setting, by its key in `Settings`; where there is a flag, commander uses the same key. */
export const SETTINGS = {
  config: general('config', { kind: 'path' }, null, {
    description: 'The settings file; relative paths in it are relative to its folder.',
    inFile: false,
    unset: 'daywalk.yaml, if it is there',
  }),

  /** Origin and path prefix, no slash at the end. */
  apiUrl: api('api.url', { kind: 'url' }, null, {
    description:
      'Base URL of the Event Query API, with its path prefix if it has one; `/api/events` is added to it.',
  }),
  ...secretKey(api, 'apiKey', 'api.key', 'the API key'),
  apiAllowHttp: api('api.allow_http', { kind: 'boolean' }, 'no', {
    description:
      'Send the key over plain HTTP to another machine too; loopback needs no permission.',
  }),
  apiCaFile: api('api.ca_file', { kind: 'path' }, null, {
    description: "PEM file of the certificate authorities that may sign the API's certificate.",
    unset: 'those of Node.js',
  }),
  apiClientCertFile: api('api.client_cert_file', { kind: 'path' }, null, {
    description: 'PEM file of the client certificate; goes with `api.client_key_file`.',
  }),
  apiClientKeyFile: api('api.client_key_file', { kind: 'path' }, null, {
    description: 'PEM file of the private key of the client certificate.',
  }),
  apiGzip: api('api.gzip', { kind: 'boolean' }, 'yes', {
    description: 'Ask the API for compressed answers.',
  }),
  httpProxy: proxy('proxy.http', { kind: 'secretUrl', of: 'proxy' }, null, {
    description: 'The proxy for an API with an http URL.',
    env: ['HTTP_PROXY', 'http_proxy'],
  }),
  httpsProxy: proxy('proxy.https', { kind: 'secretUrl', of: 'proxy' }, null, {
    description: 'The proxy for an API with an https URL.',
    env: ['HTTPS_PROXY', 'https_proxy'],
  }),
  noProxy: proxy('proxy.except', { kind: 'text' }, null, {
    description: 'Hosts that are reached without the proxy, with commas between them.',
    env: ['NO_PROXY', 'no_proxy'],
  }),

  // Unset where `embedded`.
  ...secretWithFile(database, 'databaseUrl', 'database.url', 'the database URL', {
    kind: { kind: 'secretUrl', of: 'database' },
    description:
      'The Postgres to export into, as `postgres://user:password@host/database`. Several hosts, as `host1:5432,host2:5432`, are tried until one takes writes. To another machine by TLS, unless `?sslmode=disable` stands behind it.',
    env: ['DATABASE_URL'],
  }),
  embedded: database('database.embedded', { kind: 'boolean' }, 'no', {
    description:
      'Export into the embedded Postgres, with its data in `database.directory`; only `init` and `run` make it, where the flag is given.',
    placeholder: '',
    flag: '--embedded',
  }),
  directory: database('database.directory', { kind: 'path' }, '.daywalk', {
    description: 'Where the embedded Postgres keeps its data.',
    env: ['DAYWALK_DIRECTORY'],
    flag: '--directory',
    placeholder: '<directory>',
  }),
  databasePatience: database('database.patience', duration(0, DAY), '30s', {
    description:
      'How long a database that is away is waited for before the program gives up; the worker tries again at its next tick.',
  }),
  statementTimeout: database('statement_timeout', duration(100, HOUR), '30s', {
    description: 'How long one statement may take before it counts as failed.',
  }),

  schedule: schedule('schedule', { kind: 'cron' }, '15 * * * *', {
    description:
      'When the worker runs: five cron fields, in UTC; a missed run is caught up by the next one.',
  }),
  timezone: schedule('timezone', { kind: 'timezone' }, 'UTC', {
    description: "The time zone of the API's clock, which says when a day begins and ends.",
  }),
  since: schedule('since', { kind: 'date' }, null, {
    description: 'The first day to export, as YYYY-MM-DD.',
    unset: 'seven days before the first run; remembered in the database',
  }),
  settle: schedule('settle', duration(0, 30 * DAY), '1h', {
    description: 'How long after its end a day is left alone, so that late events arrive.',
  }),

  streams: streams('streams', { kind: 'names' }, null, {
    description: 'Names of the streams to export, with commas between them; the file defines them.',
    unset: 'every stream that the file defines; without any, `events` and `smart-event`',
  }),
  recordsPath: streams('records_path', { kind: 'jsonPath' }, null, {
    description:
      'Where the record list is in a page: keys with dots between them, `$` for the page itself.',
    unset: 'found on the first page',
  }),
  totalPath: streams('total_path', { kind: 'totalPath' }, null, {
    description: 'Where the total is in a page; `none` if there is none that can be trusted.',
    unset: 'found on the first page',
  }),
  idPath: streams('id_path', { kind: 'fieldPath' }, null, {
    description:
      'The field that identifies a record, so that a changed record is shown once, in its newest version; never learned, because a wrong one hides records.',
    unset: 'a record is its content; `init` suggests a field',
  }),
  timePath: streams('time_path', { kind: 'fieldPath' }, null, {
    description:
      'Where in a record the time of the event stands: it becomes the column `at` of the views. ISO 8601 and numbers since 1970 are understood; a stream may say another `time_format`.',
    unset: 'the views have no time; `init` suggests a field',
  }),
  retention: streams('retention', AGE, null, {
    description:
      'How long a day is kept after it closed, such as 400d; only `daywalk prune` removes anything. A stream may have its own.',
    flag: null,
    unset: 'for ever',
  }),

  pageLength: walking('page_length', integer(1, 100_000), '1000', {
    description: 'How many records are asked for in one page.',
  }),
  concurrency: walking('concurrency', integer(1, 64), '4', {
    description: 'How many requests this process has under way at most.',
  }),
  aheadMemory: walking('ahead_memory', { kind: 'size', min: 0, max: 64 * 1024 * MIB }, '32MiB', {
    description:
      'How many bytes of pages may be fetched ahead and wait to be stored; 0 fetches none ahead.',
  }),
  windowRecords: walking('window_records', integer(100, 1_000_000_000), '50000', {
    description:
      'How many records a window may have; one whose total is larger is split by time before it is walked.',
  }),
  recheckDays: walking('recheck_days', integer(0, 365), '7', {
    description:
      'For how many days after it closed a complete window is looked at once a day, for events that came late.',
  }),
  keepBytes: walking('keep_bytes', choice('when_refused', 'always'), 'when_refused', {
    description:
      'Whether the exact bytes are kept of every page, or only of those that Postgres cannot hold as JSON.',
  }),
  lease: walking('lease', duration(5 * SECOND, DAY), '1m', {
    description: 'After how long without a sign of life another worker takes over a window.',
  }),
  rate: walking('rate', { kind: 'rate', min: 1 / 3600, max: 10_000 }, null, {
    description:
      'How many requests all workers on this database together send to the API at most: `20/s`, `600/m`, `5000/h`.',
    unset: 'no bound but what the API accepts, which each worker finds out by itself',
  }),
  connectTimeout: walking('connect_timeout', duration(100, 10 * MINUTE), '10s', {
    description: 'How long connecting to the API may take.',
  }),
  pageTimeout: walking('page_timeout', duration(SECOND, DAY), '2m', {
    description: 'How long one page may take, from the request to its last byte.',
  }),
  // Beyond 256 MiB `jsonb` refuses it.
  bodyLimit: walking('body_limit', { kind: 'size', min: 64 * KIB, max: 256 * MIB }, '64MiB', {
    description:
      'How large a page may be, before and after decompression. It may hold a value for every 16 bytes of it, and an object or a list for every 64.',
  }),
  retryTime: walking('retry_time', duration(0, DAY), '5m', {
    description:
      'How long a page is tried again after an error that may pass; pauses that the API names do not count.',
  }),
  retryAfterLimit: walking('retry_after_limit', duration(0, DAY), '15m', {
    description:
      'How long a page waits at most where the API names a time (`Retry-After`, quota headers), all such pauses together.',
  }),
  walkAttempts: walking('walk_attempts', integer(1, 100), '4', {
    description:
      'How often a window is walked again whose walk broke off before the end of its list, or was contradicted by another answer, before it fails.',
  }),

  ...ROOMS,

  logLevel: log('log.level', choice('trace', 'debug', 'info', 'warn', 'error'), 'info', {
    description: 'The least important lines that are logged.',
    placeholder: '<level>',
  }),
  logFormat: log('log.format', choice('json', 'pretty', 'auto'), 'auto', {
    description: 'How log lines look; `auto` is pretty on a terminal and JSON elsewhere.',
  }),
} as const satisfies Readonly<Record<string, Setting>>;

export type SettingKey = keyof typeof SETTINGS;
/** A setting with its key. */
export type SettingRow = Setting & { readonly key: SettingKey };

/** The same table as a list, in the order in which it is shown. */
export const ROWS: readonly SettingRow[] = (Object.keys(SETTINGS) as SettingKey[]).map((key) => ({
  key,
  ...SETTINGS[key],
}));

/** The keys that name the file of a secret. */
type SecretFile = Extract<SettingKey, `${SettingKey}File`>;

/** The setting that names a file which may hold what this one says; undefined: there is none. */
export const fileOf = ({ name }: SettingRow): SettingRow | undefined =>
  ROWS.find((other) => other.name === `${name}_file`);

/** The secrets that a file may hold, each with the key of the setting that names it: `apiKey` and `apiKeyFile`. */
export const SECRET_FILES = ROWS.flatMap(({ key }) => {
  const file = `${key}File` as SecretFile;
  return file in SETTINGS ? [[key, file] as const] : [];
});
