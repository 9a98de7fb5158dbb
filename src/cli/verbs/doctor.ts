/** `daywalk doctor`: checks everything that a run needs; every red line says what to do. */

import { systemClock } from '../../clock.ts';
import { describeGone } from '../../days/gone.ts';
import { DaywalkError, EnvelopeError, EXIT, exitCodeOf } from '../../errors.ts';
import type { Stream } from '../../model.ts';
import { closesAt, dayWindow, lastClosedDay } from '../../plan/days.ts';
import { readEnvironment } from '../../settings/environment.ts';
import type { ApiSettings } from '../../settings/settings.ts';
import { formatJsonPath } from '../../settings/values/json-path.ts';
import { recordsIn } from '../../source/contract.ts';
import { hasEverywhere, suggestIdPath } from '../../source/identity.ts';
import type { Source } from '../../source/source.ts';
import type { Database } from '../../store/database.ts';
import { type Fact, readLearnedByName } from '../../store/learned.ts';
import { OlderDatabaseError } from '../../store/migrations.ts';
import { readFault } from '../../store/probes.ts';
import { readGone, readStreamLateness } from '../../store/publications.ts';
import { readServerFacts } from '../../store/server.ts';
import { databaseNow } from '../../store/windows.ts';
import { formatCount, printable } from '../../text.ts';
import { redactor } from '../redactor.ts';
import { printColoured, printJson, terminal } from '../terminal/output.ts';
import type { Invocation } from '../verb.ts';
import { openApi } from '../walk-wiring.ts';
import { apiSettingsOf, type Makes, openDatabase, openLog } from '../wiring.ts';

/** One line of the doctor. */
export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'bad' | 'skipped';
  readonly found: string;
  /** What to do, where something is to be done. */
  readonly remedy: string | null;
}

/** A clock that is off by more may plan a day too early. */
const SKEW_MS = 60_000;
/** A person waits: an API that does not answer by then is a finding. */
const PATIENCE_MS = 30_000;
/** Records that are looked at. */
const LOOKED_AT = 50;

/** Checks one thing after the other; exit code of the first bad one. */
export async function doctor(invocation: Invocation): Promise<number> {
  return (await examine(invocation)).exitCode;
}

/**
 * What {@link doctor} found, printed.
 * @param makes what may be made where it is not there.
 */
export async function examine(
  invocation: Invocation,
  makes: Makes = 'nothing',
): Promise<Examination> {
  const settings = apiSettingsOf(invocation);
  const log = await openLog(settings);
  const examination = new Examination();
  examination.note(
    'settings',
    'ok',
    settings.config === undefined ? 'no daywalk.yaml; environment and defaults' : settings.config,
  );
  const { signal } = invocation;
  const opened = await examination.look('database', () =>
    openDatabase(settings, log, signal, { makes }),
  );
  const now =
    opened &&
    (await examination.look('database', () => examineDatabase(opened, settings, examination)));
  const { timezone, settle } = settings;
  const day = lastClosedDay(now ?? systemClock.now(), timezone, settle);
  examination.note(
    'time zone',
    'ok',
    `${timezone}: the newest closed day is ${day}, closed at ${new Date(closesAt(day, timezone, settle)).toISOString()}`,
  );
  const retryTime = Math.min(settings.retryTime, PATIENCE_MS);
  let source: Source | undefined;
  try {
    const api = await openApi({ ...settings, retryTime });
    source = api;
    for (const stream of settings.streams)
      await examination.look(`stream ${stream.name}`, () =>
        askOnce(api, opened?.database, stream, day, signal, examination),
      );
  } finally {
    await source?.close();
    await opened?.close();
    await log.flush();
  }
  if (invocation.options.json === true) printJson(examination.findings);
  else printColoured(...describeFindings(examination.findings, terminal(readEnvironment())));
  return examination;
}

/** The server and what is in it; the time by its clock. */
async function examineDatabase(
  { database, embedded }: Awaited<ReturnType<typeof openDatabase>>,
  settings: ApiSettings,
  examination: Examination,
): Promise<number> {
  const facts = await readServerFacts(database);
  const now = await databaseNow(database);
  examination.note(
    'database',
    'ok',
    `PostgreSQL ${facts.version}${embedded ? `, the embedded one in ${settings.directory}` : ''}, schema up to date`,
  );
  for (const { found, remedy } of facts.concerns)
    examination.note('database', 'warning', found, remedy);
  await examineStreams(database, settings, examination);
  const skew = Math.abs(systemClock.now() - now);
  if (skew > SKEW_MS)
    examination.note(
      'clock',
      'warning',
      `this machine and the database differ by ${Math.round(skew / 1000)} s`,
      'The database decides; set this machine by NTP so that logs can be compared.',
    );
  else examination.note('clock', 'ok', 'this machine and the database agree');
  return now;
}

/** What was learned about the API, and whether events come later than the settings allow for. */
async function examineStreams(
  database: Database,
  settings: ApiSettings,
  examination: Examination,
): Promise<void> {
  const names = settings.streams.map((stream) => stream.name);
  for (const { name, fact, value, evidence, learnedAt } of await readLearnedByName(
    database,
    names,
  )) {
    const since = learnedAt.toISOString().slice(0, 10);
    examination.note(
      `learned ${name}`,
      'ok',
      `${FACT_WORDS[fact]}${typeof value === 'boolean' ? '' : ` ${Array.isArray(value) ? value.join(', ') : String(value)}`}, since ${since}: ${evidence}`,
    );
  }
  for (const { stream, late, longestHours } of await readStreamLateness(database, names))
    examination.note(
      `lateness ${stream}`,
      'warning',
      `${formatCount(late)} records were found up to ${Math.ceil(longestHours)} h after their day had closed`,
      longestHours > (settings.recheckDays - 1) * 24
        ? `Raise recheck_days: records still came when its ${settings.recheckDays} days were nearly over.`
        : `They are in the database now. A longer settle than ${Math.round(settings.settle / 60_000)} min would have waited for the early ones.`,
    );
  for (const gone of await readGone(database, names))
    for (const sentence of describeGone(gone))
      examination.note(`kept ${gone.stream}`, 'warning', sentence);
}

const FACT_WORDS: Readonly<Record<Fact, string>> = {
  page_length: 'largest page length',
  offset_cap: 'paging ends at',
  proven_size: 'largest window proven by its halves',
  calibrated: 'totals agree with proofs up to',
  lower_bound: 'totals are lower bounds from',
  paging: 'pages are counted by',
  reach: 'seconds around a cut that are asked for:',
  ignored: 'left out when records are compared:',
  restless: 'one question is answered in different ways',
  empties: 'share of empty answers where records are:',
};

async function askOnce(
  source: Source,
  database: Database | undefined,
  stream: Stream,
  day: string,
  signal: AbortSignal,
  examination: Examination,
): Promise<void> {
  const { from, to } = dayWindow(day);
  const { resource, filters, recordsPath, totalPath } = stream;
  const page = await source.fetchPage(
    { resource, filters, from, to, start: 0, length: LOOKED_AT },
    { signal },
  );
  if (page.refused !== undefined) throw page.refused;
  const contract = source.findContract(page.body, { recordsPath, totalPath });
  const fault = database && (await readFault(database, page, contract.recordsPath));
  if (fault) throw new EnvelopeError(`the answer tells of a failure: "${source.excerpt(fault)}"`);
  const list =
    contract.recordsPath.length === 0 ? 'the body itself' : contract.recordsPath.join('.');
  const total =
    contract.totalPath === null ? 'no total' : `total at ${contract.totalPath.join('.')}`;
  examination.note(
    `stream ${stream.name}`,
    'ok',
    `API reached, key accepted in ${Math.round(page.durationMs)} ms; records at ${list}, ${total}`,
  );
  examineIdentity(stream, recordsIn(page.body, contract.recordsPath), examination);
}

/** Whether records are identified, as far as those of one page tell. */
function examineIdentity(
  { name, idPath }: Stream,
  records: readonly unknown[],
  examination: Examination,
): void {
  const check = `identity ${name}`;
  if (idPath !== undefined) {
    if (hasEverywhere(idPath, records)) return;
    const found = `some of ${records.length} records have nothing at ${formatJsonPath(idPath)}`;
    const remedy = 'Those count by their content. Is id_path right?';
    examination.note(check, 'warning', found, remedy);
    return;
  }
  const path = suggestIdPath(records);
  if (path === null) return;
  examination.identities.set(name, path);
  const spelled = formatJsonPath(path);
  examination.note(
    check,
    'ok',
    `${spelled} is in each of ${records.length} records, and different in each`,
    `Set id_path: ${spelled} if it identifies an event for good: a changed one is shown once then, not twice.`,
  );
}

/** Collects findings; what throws is a bad one. */
class Examination {
  readonly findings: Finding[] = [];
  /** Paths that look like an identity, by the name of the stream. */
  readonly identities = new Map<string, readonly string[]>();
  #exitCode: number = EXIT.done;

  get exitCode(): number {
    return this.#exitCode;
  }

  note(check: string, state: Finding['state'], found: string, remedy: string | null = null): void {
    this.findings.push({ check, state, found, remedy });
  }

  async look<T>(check: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof DaywalkError)) throw error;
      // A run makes them by itself.
      if (error instanceof OlderDatabaseError) {
        this.note(check, 'warning', error.message, error.hint ?? null);
        return undefined;
      }
      this.note(check, 'bad', redactor.redact(error.message), error.hint ?? null);
      // No window failed here: an answer that is no page is a matter of the settings.
      const code = exitCodeOf(error);
      if (this.#exitCode === EXIT.done) this.#exitCode = code === EXIT.gaps ? EXIT.settings : code;
      return undefined;
    }
  }
}

const MARKS = {
  ok: ['✓', 'ok  ', 32],
  warning: ['!', 'warn', 33],
  bad: ['✗', 'BAD ', 31],
  skipped: ['-', 'skip', 90],
} as const;

/** The findings, a line each, the remedy below; foreign text in them is made printable. */
export function describeFindings(
  findings: readonly Finding[],
  look: { colour: boolean; unicode: boolean },
): string[] {
  const width = Math.max(...findings.map(({ check }) => check.length));
  return findings.flatMap(({ check, state, found, remedy }) => {
    const [sign, word, colour] = MARKS[state];
    const mark = look.unicode ? sign : word;
    const shown = look.colour ? `\u001b[${colour}m${mark}\u001b[0m` : mark;
    return [
      `${shown} ${check.padEnd(width)}  ${printable(found)}`,
      ...(remedy === null ? [] : [`  ${' '.repeat(width)}  → ${printable(remedy)}`]),
    ];
  });
}
