/** Gaps in words: unbroken spans of days in one state, each with the command that fills it. */
import type { Day } from '../model.ts';
import { spansOf, spanText } from '../plan/days.ts';
import { linesOf } from '../text.ts';
import type { GapRow, GapState } from './coverage-rows.ts';
import { DAY_STATE_WORDS } from './day-states.ts';

/** What people are told of a gap. */
export const GAP_WORDS: Readonly<Record<GapState, string>> = {
  ...DAY_STATE_WORDS,
  pending: 'planned, not walked yet',
};

interface Scheduled {
  readonly stream: string;
  readonly since: Day | null;
  readonly until: Day | null;
  readonly today: Day;
}

/**
 * What is missing: whole streams, and gaps. That there are none is said where nothing else is.
 * @param unplanned streams of the settings that this database has never heard of: everything of them is missing.
 * @param most spans of gaps told; the rest is counted.
 */
export function describeMissing(
  unplanned: readonly string[],
  streams: readonly Scheduled[],
  found: readonly GapRow[],
  most?: number,
): string[] {
  const notBegun = [
    ...unplanned.map(
      (name) => `${name}: never planned in this database; \`daywalk run\` begins with it`,
    ),
    ...describeFuture(streams),
  ];
  return [
    ...describeEnded(streams),
    ...notBegun,
    ...(notBegun.length > 0 && found.length === 0 ? [] : describeGaps(found, most)),
  ];
}

/** Streams whose last day is over: nothing of them is planned any more. */
function describeEnded(streams: readonly Scheduled[]): string[] {
  return linesOf(
    ...streams.map(
      ({ stream, until, today }) =>
        until !== null &&
        until < today &&
        `${stream}: ended on ${until} (until); no later day is planned`,
    ),
  );
}

/** Streams whose first day is still to come: nothing of them is missing; what was planned before is exported all the same. */
export function describeFuture(
  streams: readonly Pick<Scheduled, 'stream' | 'since' | 'today'>[],
): string[] {
  return linesOf(
    ...streams.map(
      ({ stream, since, today }) =>
        since !== null &&
        since > today &&
        `${stream}: begins on ${since} (since), in the future; until then no new day is planned`,
    ),
  );
}

/**
 * A line for each unbroken span of days in one state, with the command that fills it.
 * @param most spans told; the rest is counted.
 */
export function describeGaps(found: readonly GapRow[], most = Number.POSITIVE_INFINITY): string[] {
  if (found.length === 0) return ['No gaps: every closed day is complete.'];
  const spans = gapSpansOf(found);
  const rest = spans.length - most;
  return linesOf(
    spans
      .slice(0, most)
      .map(problemOf)
      .flatMap(({ text, command }) => linesOf(text, commandLine(command))),
    rest > 0 && `… and ${rest} more; \`daywalk gaps\` lists all.`,
  );
}

/** The command that fills a gap of one day or more, to be copied. */
export function fillCommand(stream: string, from: Day, to = from): string {
  return `daywalk backfill --from ${from} --to ${to} --stream ${stream}`;
}

/** The command by which a person says that the source of a stream is right. */
export const acceptCommand = (stream: string): string => `${ACCEPT} --stream ${stream}`;
const ACCEPT = 'daywalk accept';

/** Stands before that command, which mends nothing by itself. */
export const IF_RIGHT = 'only if the source is right: ';

/** What an error ends with that only a person can settle: walked again, it would fail again. Null: it is another one. */
export const acceptHint = (error: string | null): string | null =>
  /\(([^()]*daywalk accept[^()]*)\)$/.exec(error ?? '')?.[1] ?? null;

/** The command that mends days with this error. */
export const mendingOf = ({ stream, from, to, lastError }: Omit<GapSpan, 'state'>): string =>
  acceptHint(lastError) === null ? fillCommand(stream, from, to) : acceptCommand(stream);

/** The line below what is wrong; false: no command mends it. */
export const commandLine = (command: string | null): string | false =>
  command !== null && `  ${command.startsWith(ACCEPT) ? IF_RIGHT : ''}${command}`;

/** What becomes of it by itself, where nobody has to settle anything first. */
const KEPT_WORDS: Partial<Record<GapState, string>> = {
  begun: '; the next run goes on with what is stored',
  failed: '; later runs try it again',
};

/** A span with its words, and the command that mends it; null: it is being walked. */
export function problemOf(span: GapSpan) {
  const { stream, state, lastError } = span;
  const error = lastError === null ? '' : `: ${lastError}`;
  const kept = acceptHint(lastError) === null ? (KEPT_WORDS[state] ?? '') : '';
  return {
    ...span,
    text: `${stream}: ${spanText(span)} ${GAP_WORDS[state]}${kept}${error}`,
    command: state === 'running' ? null : mendingOf(span),
  };
}

/** One thing that is wrong. */
export type Problem = Readonly<ReturnType<typeof problemOf>>;

/** What is the same in errors that differ in numbers only: dates, counts, offsets. */
export const kindOfError = (error: string | null): string | null =>
  error?.replaceAll(/\d+/g, '0') ?? null;

/** The spans of the gaps, in the order of their first days; each with what its newest day was told. */
export function gapSpansOf(found: readonly GapRow[]) {
  const kindOf = ({ stream, state, lastError }: GapRow) =>
    JSON.stringify([stream, state, kindOfError(lastError)]);
  return spansOf(found, kindOf).map(({ from, to, newest: { stream, state, lastError } }) => {
    return { stream, state, from, to, lastError };
  });
}

/** Days that follow each other, in the same state for the same kind of reason. */
export type GapSpan = Readonly<ReturnType<typeof gapSpansOf>[number]>;
