/** `daywalk gaps`: what is missing, and the command that fills it. */
import { EXIT } from '../errors.ts';
import { addDays } from '../plan/days.ts';
import { type GapRow, readGaps } from '../store/coverage.ts';
import { listStreamNames } from '../store/streams.ts';
import { print, printJson } from './output.ts';
import type { Invocation } from './verb.ts';
import { openDatabase, openLog, settingsOf } from './wiring.ts';

/** Lists the gaps; exit code 3 when there are any. */
export async function gaps(invocation: Invocation): Promise<number> {
  const settings = settingsOf(invocation);
  const log = await openLog(settings);
  const { database, close } = await openDatabase(settings, log, invocation.signal);
  try {
    const names = settings.streams.map((stream) => stream.name);
    const planned = await listStreamNames(database);
    const unplanned = names.filter((name) => !planned.includes(name));
    const found = await readGaps(
      database,
      settings.streams.map((stream) => stream.name),
    );
    if (invocation.options.json === true)
      printJson(found.map((gap) => ({ ...gap, command: fillCommand(gap) })));
    else
      print(
        ...describeUnplanned(unplanned),
        ...(unplanned.length > 0 && found.length === 0 ? [] : describeGaps(found)),
      );
    return found.length + unplanned.length === 0 ? EXIT.done : EXIT.gaps;
  } finally {
    await close();
    await log.flush();
  }
}

/** Streams of the settings that this database has never heard of: everything of them is missing. */
export function describeUnplanned(names: readonly string[]): string[] {
  return names.map(
    (name) => `${name}: never planned in this database; \`daywalk run\` begins with it`,
  );
}

/** A line for each unbroken span of days in one state, with the command that fills it. */
export function describeGaps(found: readonly GapRow[]): string[] {
  if (found.length === 0) return ['No gaps: every closed day is complete.'];
  return spansOf(found).flatMap((span) => [
    `${span.stream}: ${span.from === span.to ? span.from : `${span.from} to ${span.to}`} ${span.state}${span.lastError === null ? '' : `: ${span.lastError}`}`,
    ...(span.state === 'running' ? [] : [`  ${fillCommand({ ...span, day: span.from }, span.to)}`]),
  ]);
}

/** The command that fills a gap, to be copied. */
export function fillCommand(gap: Pick<GapRow, 'stream' | 'day'>, to = gap.day): string {
  return `daywalk backfill --from ${gap.day} --to ${to} --stream ${gap.stream}`;
}

interface Span {
  readonly stream: string;
  readonly state: GapRow['state'];
  readonly from: string;
  to: string;
  readonly lastError: string | null;
}

/** Days that follow each other, in the same state for the same reason, are told together. */
function spansOf(found: readonly GapRow[]): Span[] {
  const spans: Span[] = [];
  const open = new Map<string, Span>();
  for (const { stream, day, state, lastError } of found) {
    const last = open.get(stream);
    const follows =
      last?.state === state && last.lastError === lastError && addDays(last.to, 1) === day;
    if (last !== undefined && follows) {
      last.to = day;
      continue;
    }
    const span = { stream, state, from: day, to: day, lastError };
    open.set(stream, span);
    spans.push(span);
  }
  return spans;
}
