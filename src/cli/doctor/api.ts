/** What the doctor finds at the API: whether it answers, where list and total are, what identifies a record, in which zone it counts days. */
import { EnvelopeError, NoRecordsError, RefusedError, UnavailableError } from '../../errors.ts';
import type { Contract, Day, Page, Stream, TimeSpan } from '../../model.ts';
import { addDays, closesAt, dayWindow, offsetAt } from '../../plan/days.ts';
import type { ApiSettings } from '../../settings/settings.ts';
import { formatJsonPath } from '../../settings/values/paths.ts';
import { type FoundContract, looksLikeTotal, recordsIn } from '../../source/find-contract.ts';
import { hasEverywhere, suggestTimePath } from '../../source/identity.ts';
import type { Source } from '../../source/source.ts';
import type { Database } from '../../store/database.ts';
import { readFault } from '../../store/evidence/probes.ts';
import { formatCount, formatDuration } from '../../text.ts';
import { mayRefuseDepth, orNull, refusesLength } from '../../walk/failures.ts';
import { SKEW_MS } from './database.ts';
import type { Examination } from './examination.ts';
import { examineIdentity } from './identity.ts';
import { type Answered, formatOffset, offsetsShown } from './time-zone.ts';

/** Records that are looked at. */
const LOOKED_AT = 50;
/** Clocks are set by half an hour or one, and by two at most. */
const CLOCK_CHANGE_MS = 2 * 3_600_000;

/** What asking for a stream needs. */
interface Asking {
  readonly stream: Stream;
  readonly source: Source;
  /** Absent where it could not be opened. */
  readonly database: Database | undefined;
  readonly settings: ApiSettings;
  /** The newest closed day. */
  readonly day: Day;
  readonly signal: AbortSignal;
  readonly examination: Examination;
}

/** Asks for the newest closed day of each stream; the first that finds nobody there, or the key refused, speaks for all. */
export async function examineApi(asking: Omit<Asking, 'stream'>): Promise<void> {
  const { settings, examination } = asking;
  let skipped: string | null = null;
  for (const stream of settings.streams) {
    const check = `stream ${stream.name}`;
    if (skipped !== null) examination.skip(check, `not asked for, because ${skipped}`);
    else
      await examination.look(check, () =>
        examineStream({ ...asking, stream }).catch((error: unknown) => {
          if (error instanceof UnavailableError) skipped = 'the API is away';
          if (error instanceof RefusedError) skipped = 'the API refused the key';
          throw error;
        }),
      );
  }
  examineItsClock(asking);
}

/** A day closes by the clock of the database, and may not be over by that of the API. */
function examineItsClock({ source, examination: { ok, warn } }: Omit<Asking, 'stream'>): void {
  const skew = source.skewMs();
  if (skew === null) return;
  if (Math.abs(skew) <= SKEW_MS) ok('API clock', 'the API and this machine agree');
  else
    warn(
      'API clock',
      `the clock of the API is ${formatDuration(Math.abs(skew))} ${skew > 0 ? 'ahead of' : 'behind'} this machine's`,
      'Set both by NTP; meanwhile settle should be longer than that, so that no day is walked before it is over there.',
    );
}

async function examineStream(asking: Asking): Promise<void> {
  const { stream, examination } = asking;
  const check = `stream ${stream.name}`;
  const answer = await findAnswer(asking);
  if (answer === undefined) return;
  const { page, contract, day } = answer;
  examination.ok(check, `${reached(page.durationMs)}; ${whereThingsAre(contract)}`);
  const records = recordsIn(page.body, contract.recordsPath);
  examination.records.set(stream.name, records);
  examineTime(asking, records);
  const ofThatDay = { ...asking, day };
  if (contract.totalPath === null && stream.totalPath === undefined)
    await examineTotal(ofThatDay, page, contract);
  if (records.length === 0) return;
  const edges = await examineZone(ofThatDay, contract);
  await examineIdentity(stream, { records, edges }, examination, async (start, length) => {
    const again = await ask(asking, dayWindow(day), start, length);
    return recordsIn(again.body, contract.recordsPath);
  });
}

const reached = (ms: number): string => `API reached, key accepted in ${Math.round(ms)} ms`;

/** An answer in which list and total are found, and the day that it is of. */
interface Answer {
  readonly day: Day;
  readonly page: Page;
  readonly contract: FoundContract;
}

/** How many days before the newest closed one are asked for too, where it shows no records. */
const DAYS_BEFORE = [0, 1, 7, 30];

/**
 * The newest answer with records; without any the newest in which list and total are found. Undefined: there is none, and that
 * is a finding.
 * @throws EnvelopeError, or what a 404 says, where that is no answer without records.
 */
async function findAnswer(asking: Asking): Promise<Answer | undefined> {
  const { examination, stream, day: newest } = asking;
  let empty: Answer | undefined;
  let reason: Error | undefined;
  let durationMs = 0;
  for (const before of DAYS_BEFORE) {
    const day = addDays(newest, -before);
    const page = await ask(asking, dayWindow(day), 0, LOOKED_AT);
    durationMs = page.durationMs;
    try {
      const contract = contractOf(asking, page);
      const fault = await faultOf(asking, page, contract);
      if (contract.records > 0 && fault !== null) throw fault;
      if (contract.records > 0) return { day, page, contract };
      // What it says beside no records it may say beside those of another day, too.
      if (fault === null) empty ??= { day, page, contract };
      else reason ??= fault;
    } catch (error) {
      if (!(error instanceof NoRecordsError) && error !== page.refused) throw error;
      reason ??= error as Error;
    }
  }
  if (empty !== undefined) return empty;
  if (!(reason instanceof NoRecordsError)) throw reason;
  const oldest = addDays(newest, -Math.max(...DAYS_BEFORE));
  examination.warn(
    `stream ${stream.name}`,
    `${reached(durationMs)}; no records from ${oldest} to ${newest} on the days that were asked for: ${reason.message}`,
    'Does it have events, and are resource and filters right? Until records come, a day counts as empty only where an empty list comes and nothing else; other days wait.',
  );
  return undefined;
}

function contractOf({ source, stream }: Asking, page: Page): FoundContract {
  if (page.status === 204) throw new NoRecordsError('the answer is an empty 204');
  if (page.refused !== undefined) throw page.refused;
  return source.findContract(page.body, stream);
}

async function faultOf({ source, database }: Asking, page: Page, { recordsPath }: FoundContract) {
  const fault = database && (await readFault(database, page, recordsPath));
  return fault
    ? new EnvelopeError(`the answer tells of a failure: "${source.excerpt(fault)}"`)
    : null;
}

function whereThingsAre({ recordsPath, totalPath }: FoundContract): string {
  const list = recordsPath.length === 0 ? 'the body itself' : recordsPath.join('.');
  return `records at ${list}, ${totalPath === null ? 'no total' : `total at ${totalPath.join('.')}`}`;
}

function ask({ source, stream, signal }: Asking, span: TimeSpan, start: number, length: number) {
  const { resource, filters } = stream;
  const { from, to } = span;
  return source.fetchPage({ resource, filters, from, to, start, length }, { signal });
}

/** A page as long as it is known to go; where that is refused, half of it and so on, as a run asks. */
async function askLong(asking: Asking, span: TimeSpan): Promise<Page> {
  const { stream, examination, settings } = asking;
  const known = examination.lengths.get(stream.name) ?? settings.pageLength;
  let length = Math.min(known, settings.pageLength);
  for (;;)
    try {
      const page = await ask(asking, span, 0, length);
      examination.lengths.set(stream.name, length);
      return page;
    } catch (error) {
      if (!refusesLength(error) || length <= LOOKED_AT) throw error;
      length = Math.max(LOOKED_AT, Math.floor(length / 2));
    }
}

/** Whether the views can tell when an event happened, as far as the records of one page tell. */
function examineTime(asking: Asking, records: readonly unknown[]): void {
  const { name, timePath } = asking.stream;
  const { ok, warn, times } = asking.examination;
  const check = `time ${name}`;
  if (timePath !== undefined) {
    if (hasEverywhere(timePath, records)) return;
    const found = `some of ${records.length} records have nothing at ${formatJsonPath(timePath)}`;
    warn(check, found, 'Their at is null in the views. Is time_path right?');
    return;
  }
  const path = suggestTimePath(records);
  if (path === null) return;
  times.set(name, path);
  const spelled = formatJsonPath(path);
  ok(
    check,
    `${spelled} looks like the time of the event in each of ${records.length} records`,
    `Set time_path: ${spelled}, and the views have a column at for dashboards.`,
  );
}

/** A number beside the list whose name may mean the page: it is a total if it is the same in a page of one record. */
async function examineTotal(asking: Asking, page: Page, { recordsPath }: Contract): Promise<void> {
  const { stream, day, examination } = asking;
  const short = await ask(asking, dayWindow(day), 0, 1);
  const found = looksLikeTotal(page.body, short.body, recordsPath);
  if (found === null) return;
  // At its end the list has one record, if the number is right, and the API lets anybody ask so deep.
  const end = await orNull(ask(asking, dayWindow(day), found.total - 1, 2), mayRefuseDepth);
  if (end === null || recordsIn(end.body, recordsPath).length !== 1) return;
  const path = formatJsonPath(found.path);
  examination.warn(
    `total ${stream.name}`,
    `${path} looks like a total: it is ${formatCount(found.total)} on pages of ${LOOKED_AT} and of 1, and there the list ends`,
    `Set total_path: ${path}; without it about twice as many requests are needed.`,
  );
}

/**
 * Whether the first and the last hour of the day, as the source counts it, are those of the zone that is set.
 * @returns the records of these hours.
 */
async function examineZone(asking: Asking, { recordsPath }: Contract): Promise<readonly unknown[]> {
  const { stream, day, settings, examination } = asking;
  const { timezone } = settings;
  const answers: Answered[] = [];
  for (const hour of ['00', '23']) {
    const span = { from: `${day} ${hour}:00:00`, to: `${day} ${hour}:59:59` };
    const page = await askLong(asking, span);
    answers.push({ ...span, records: recordsIn(page.body, recordsPath) });
  }
  const length = examination.lengths.get(stream.name) ?? settings.pageLength;
  if (length < settings.pageLength)
    examination.ok(
      `length ${stream.name}`,
      `pages go up to ${formatCount(length)} records; page_length is ${formatCount(settings.pageLength)}`,
      `A run finds that out by itself. page_length: ${length} saves it the refused requests.`,
    );
  const paths = stream.timePath ? [stream.timePath] : (settings.archiveFields.time ?? []);
  const offsets = offsetsShown(answers, paths);
  const edges = answers.flatMap(({ records }) => records);
  if (offsets === null) return edges;
  // Each hour by itself: they differ on a day on which the clocks change.
  const ofHours = answers.flatMap((answer) => offsetsShown([answer], paths) ?? []);
  const apartMs = offsets.least - offsets.most;
  if (apartMs > CLOCK_CHANGE_MS || ofHours.some(({ least, most }) => least > most)) {
    examination.warn(
      `range ${stream.name}`,
      `the first and the last hour of ${day}, asked for alone, show records whose times are not in them, in whatever time zone`,
      'Does the API heed fromDate and toDate, both of them and to the second, and is time_path the time by which it chooses? If not, days may fail.',
    );
    return edges;
  }
  const ends = [closesAt(addDays(day, -1), timezone, 0), closesAt(day, timezone, 0) - 1];
  const set = ends.map((end) => offsetAt(end, timezone));
  const check = `time zone ${stream.name}`;
  const other = ofHours.find(
    ({ least, most }) => !set.some((offset) => offset >= least && offset <= most),
  );
  if (other === undefined) {
    examination.ok(check, `records at both edges of ${day} carry times of ${timezone}`);
    return edges;
  }
  const shown = formatOffset(apartMs > 0 ? other : offsets);
  examination.warn(
    check,
    `the source counts ${day} by about ${shown}, by the times in its records, and timezone is ${timezone}`,
    `Set timezone to the zone of the source${shown === 'UTC+00:00' ? ' (UTC, if it has no summer time)' : ''}; with a wrong one days begin and close at the wrong time.`,
  );
  return edges;
}
