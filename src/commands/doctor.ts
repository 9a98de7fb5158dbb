/** `daywalk doctor`: checks everything that a run needs; every red line says what to do. */
import { systemClock } from '../clock.ts';
import { readEnvironment } from '../config/environment.ts';
import type { ApiSettings } from '../config/settings.ts';
import { DaywalkError, EXIT, exitCodeOf } from '../errors.ts';
import type { Stream } from '../model.ts';
import { closesAt, dayWindow, lastClosedDay } from '../plan/days.ts';
import { formatCount } from '../report/format.ts';
import type { Source } from '../source/source.ts';
import type { Database } from '../store/database.ts';
import { readStreamDifferences } from '../store/differences.ts';
import { readLearnedByName } from '../store/learned.ts';
import { readServerFacts } from '../store/server.ts';
import { databaseNow } from '../store/windows.ts';
import { openApi } from './export-wiring.ts';
import { print, printJson, terminal } from './output.ts';
import type { Invocation } from './verb.ts';
import { apiSettingsOf, openDatabase, openLog } from './wiring.ts';

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

/** Checks one thing after the other; exit code of the first bad one. */
export async function doctor(invocation: Invocation): Promise<number> {
  const settings = apiSettingsOf(invocation);
  const log = await openLog(settings);
  const examination = new Examination();
  examination.note(
    'settings',
    'ok',
    settings.config === undefined ? 'no daywalk.yaml; environment and defaults' : settings.config,
  );
  const { signal } = invocation;
  const now = await examination.look('database', async () => {
    const { database, embedded, close } = await openDatabase(settings, log, signal);
    try {
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
    } finally {
      await close();
    }
  });
  const { timezone, settle } = settings;
  const day = lastClosedDay(now ?? systemClock.now(), timezone, settle);
  examination.note(
    'time zone',
    'ok',
    `${timezone}: the newest closed day is ${day}, closed at ${new Date(closesAt(day, timezone, settle)).toISOString()}`,
  );
  const retryTime = Math.min(settings.retryTime, PATIENCE_MS);
  const source = await openApi({ ...settings, retryTime });
  try {
    for (const stream of settings.streams)
      await examination.look(`stream ${stream.name}`, () =>
        askOnce(source, stream, day, signal, examination),
      );
  } finally {
    await source.close();
    await log.flush();
  }
  if (invocation.options.json === true) printJson(examination.findings);
  else print(...describeFindings(examination.findings, terminal(readEnvironment())));
  return examination.exitCode;
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
      `${FACT_WORDS[fact]} ${formatCount(value)}, since ${since}: ${evidence}`,
    );
  }
  for (const { stream, late, longestHours, vanished } of await readStreamDifferences(
    database,
    names,
  )) {
    const hours = Math.ceil(longestHours);
    const check = `lateness ${stream}`;
    if (late > 0)
      examination.note(
        check,
        'warning',
        `${formatCount(late)} records were found up to ${hours} h after their day had closed`,
        longestHours > (settings.recheckDays - 1) * 24
          ? `Raise recheck_days: records still came when its ${settings.recheckDays} days were nearly over.`
          : `They are in the database now. A longer settle than ${Math.round(settings.settle / 60_000)} min would have waited for the early ones.`,
      );
    if (vanished > 0)
      examination.note(
        check,
        'warning',
        `${formatCount(vanished)} exported records are gone from the source, or differ`,
        'Look at them in the view daywalk.source_changes.',
      );
  }
}

const FACT_WORDS = {
  page_length: 'largest page length',
  offset_cap: 'paging ends at',
  proven_size: 'largest proven window',
  totals: 'totals count the window:',
} as const;

async function askOnce(
  source: Source,
  stream: Stream,
  day: string,
  signal: AbortSignal,
  examination: Examination,
): Promise<void> {
  const { from, to } = dayWindow(day);
  const { resource, filters, recordsPath, totalPath } = stream;
  const page = await source.fetchPage(
    { resource, filters, from, to, start: 0, length: 2 },
    { signal },
  );
  const envelope = source.findEnvelope(page.body, {
    ...(recordsPath === undefined ? {} : { recordsPath }),
    ...(totalPath === undefined ? {} : { totalPath }),
  });
  const list =
    envelope.recordsPath.length === 0 ? 'the body itself' : envelope.recordsPath.join('.');
  const total =
    envelope.totalPath === null ? 'no total' : `total at ${envelope.totalPath.join('.')}`;
  examination.note(
    `stream ${stream.name}`,
    'ok',
    `API reached, key accepted in ${Math.round(page.durationMs)} ms; records at ${list}, ${total}`,
  );
}

/** Collects findings; what throws is a bad one. */
class Examination {
  readonly findings: Finding[] = [];
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
      this.note(check, 'bad', error.message, error.hint ?? null);
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

/** The findings, a line each, the remedy below. */
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
      `${shown} ${check.padEnd(width)}  ${found}`,
      ...(remedy === null ? [] : [`  ${' '.repeat(width)}  → ${remedy}`]),
    ];
  });
}
