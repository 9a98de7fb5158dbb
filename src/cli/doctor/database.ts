/** What the doctor finds in the database: the server, the streams as they are known there, the last run. */
import { systemClock } from '../../clock.ts';
import { readGaps, readLateness } from '../../days/coverage-rows.ts';
import { describeGone } from '../../days/gone.ts';
import { dayAt } from '../../plan/days.ts';
import type { ApiSettings } from '../../settings/settings.ts';
import { NoWritesError } from '../../store/connection/connections.ts';
import { type Fact, readLearned } from '../../store/evidence/learned.ts';
import { readGone } from '../../store/publications.ts';
import { readRefusedKey } from '../../store/refused-keys.ts';
import { readLastRun } from '../../store/runs.ts';
import { readServerFacts } from '../../store/server.ts';
import { readStreams, requireUnchanged, requireZone } from '../../store/streams.ts';
import { databaseNow } from '../../store/windows.ts';
import { counted, utcMinute } from '../../text.ts';
import { IN_ONE_FORM } from '../../walk/rules/places.ts';
import { redactor } from '../process-redactor.ts';
import type { Asked, OpenDatabase } from '../wiring.ts';
import type { Examination } from './examination.ts';
import { supportEnded } from './support.ts';

/** A person waits: who takes longer to be reached is away. */
export const REACHED_MS = 3_000;
/** A clock that is off by more may plan a day too early. */
export const SKEW_MS = 60_000;

/** What is looked at. */
interface Checkup extends OpenDatabase, Pick<Asked<ApiSettings>, 'settings' | 'names'> {
  readonly examination: Examination;
}

/** Looks at the server and at what is in it. @returns the time by its clock. */
export async function examineDatabase(checkup: Checkup): Promise<number> {
  const { database, settings, examination } = checkup;
  const { ok, warn } = examination;
  const facts = await readServerFacts(database);
  const now = await databaseNow(database);
  ok(
    'database',
    `PostgreSQL ${facts.version}${settings.embedded ? `, the embedded one in ${settings.directory}` : ''}, schema up to date`,
  );
  const ended = supportEnded('postgres', facts.version, dayAt(now, 'UTC'));
  if (ended !== null)
    warn(
      'database',
      `PostgreSQL ${facts.version} has had no security fixes since ${ended}`,
      'Upgrade the server; daywalk runs on 14 and newer.',
    );
  for (const { found, remedy } of facts.concerns) warn('database', found, remedy);
  await examineHosts(checkup);
  examineClock(now, examination);
  await examination.look('time zone', () => requireZone(database, settings.timezone));
  for (const stream of settings.streams)
    await examination.look(`filters ${stream.name}`, () => requireUnchanged(database, [stream]));
  await examineRuns(checkup);
  await examineStreams(checkup);
  return now;
}

/** Which of several hosts takes writes, and whether the others could be turned to. */
async function examineHosts({ database, examination: { ok, warn } }: Checkup): Promise<void> {
  const hosts = await database.lookAtHosts(REACHED_MS);
  for (const { name, error } of hosts)
    if (error === undefined) ok('database host', `${name} takes writes`);
    else if (error instanceof NoWritesError)
      ok('database host', `${name} takes none now: ${error.message}`);
    else
      warn(
        'database host',
        `${name} cannot be used: ${redactor.redact(error.message)}`,
        'Mend it before the next failover, or take it out of DATABASE_URL.',
      );
  if (hosts.filter(({ error }) => error === undefined).length > 1)
    warn(
      'database host',
      'more than one host takes writes: they are not one cluster, or a failover left two primaries',
      'Name the hosts of one cluster, of which one takes writes at a time.',
    );
}

function examineClock(now: number, { ok, warn }: Examination): void {
  const skew = Math.abs(systemClock.now() - now);
  if (skew > SKEW_MS)
    warn(
      'clock',
      `this machine and the database differ by ${Math.round(skew / 1000)} s`,
      'The database decides; set this machine by NTP so that logs can be compared.',
    );
  else ok('clock', 'this machine and the database agree');
}

/** How the last run ended, which days failed, and whether the key is one that was refused. */
async function examineRuns({ database, settings, names, examination }: Checkup): Promise<void> {
  const { ok, warn } = examination;
  const { apiUrl, apiKey } = settings;
  const refused = await readRefusedKey(database, apiUrl, apiKey.reveal());
  if (refused !== null)
    warn(
      'key',
      `the API refused this key at ${utcMinute(refused.since)}; workers do not send it before ${utcMinute(refused.until)}`,
      'Put another key into the key file: workers take it within seconds. One in the environment needs a restart.',
    );
  const run = await readLastRun(database);
  if (run !== null && run.outcome !== null && run.outcome !== 'done' && run.outcome !== 'gaps')
    warn(
      'last run',
      `the last run, of ${utcMinute(run.startedAt)}, ended early: ${run.error ?? run.outcome}`,
      `${run.outcome === 'refused' ? 'Once the key is right, the' : 'The'} next run goes on from there.`,
    );
  else if (run?.outcome === 'done')
    ok('last run', `the last run, of ${utcMinute(run.startedAt)}, left no gaps`);
  const failed = (await readGaps(database, names)).filter(({ state }) => state === 'failed');
  const newest = failed.at(-1);
  if (newest !== undefined)
    warn(
      'last failure',
      `${counted(failed.length, 'day')} failed, the newest is ${newest.day} of ${newest.stream}: ${newest.lastError ?? 'the reason is not known any more'}`,
      '`daywalk gaps` lists them, with the commands that walk them again.',
    );
}

/** What was learned about the API, and whether events come later than the settings allow for. */
async function examineStreams({ database, settings, names, examination }: Checkup): Promise<void> {
  const { ok, warn } = examination;
  const known = await readStreams(database, names);
  const ids = known.map(({ streamId }) => streamId);
  for (const { stream, fact, value, evidence, learnedAt } of await readLearned(database, ids)) {
    if (fact === 'page_length') examination.lengths.set(stream, Number(value));
    const since = learnedAt.toISOString().slice(0, 10);
    ok(
      `learned ${stream}`,
      `${FACT_WORDS[fact]}${valueWords(fact, value)}, since ${since}: ${evidence}`,
    );
  }
  for (const { stream, late, longestHours } of await readLateness(database, names))
    warn(
      `lateness ${stream}`,
      `${counted(late, 'record')} came up to ${Math.ceil(longestHours)} h after their day had closed`,
      longestHours > (settings.recheckDays - 1) * 24
        ? `Raise recheck_days: records still came when its ${settings.recheckDays} days were nearly over.`
        : `They are in the database now. A longer settle than ${Math.round(settings.settle / 60_000)} min would have waited for the early ones.`,
    );
  for (const gone of await readGone(database, names))
    for (const sentence of describeGone(gone)) warn(`kept ${gone.stream}`, sentence);
}

/** What was learned, in words. */
function valueWords(fact: Fact, value: unknown): string {
  if (typeof value === 'boolean') return '';
  if (!Array.isArray(value)) return ` ${VALUE_WORDS[fact]?.[String(value)] ?? String(value)}`;
  const form = 'the order within lists, zeros behind numbers, members that are null';
  return ` ${value.map((place) => (place === IN_ONE_FORM ? form : place)).join(', ')}`;
}

const VALUE_WORDS: Partial<Record<Fact, Readonly<Record<string, string>>>> = {
  reach: { day: 'none, as the source ignores the time of day' },
  hidden_by_date: {
    nothing: 'none',
    'not before': 'none before it',
    'not after': 'none after it',
    before: 'those before it',
    after: 'those behind it',
    both: 'those on both sides',
    day: 'the whole day before it',
  },
};

const FACT_WORDS: Readonly<Record<Fact, string>> = {
  page_length: 'largest page length',
  offset_cap: 'the source shows no record from this number on:',
  proven_size: 'largest window proven by its halves',
  calibrated: 'totals were right for windows of up to so many records:',
  lower_bound: 'totals mean "at least so many" from',
  paging: 'pages are counted by',
  reach: 'seconds around a cut that are asked for:',
  hidden_by_date: 'hours beside a midnight that only a range across it shows:',
  ignored: 'left out when records are compared:',
  restless: 'the same request gets different answers',
  empties: 'share of empty answers where records are:',
  hides_much: 'ranges with too many records come back empty',
  cut_otherwise:
    'lists are cut by something else than their number (by shard, by hours), so each is compared with its halves',
  large_records: 'some records are so large that no page has room for the next one',
};
