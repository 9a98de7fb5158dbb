/** `daywalk search`: the stored records that hold a value, and of which days "nothing" counts. */

import { EXIT, SettingsError } from '../../errors.ts';
import { spansOf, spanText } from '../../plan/days.ts';
import {
  type SearchedStream,
  type SearchReport,
  type StreamHit,
  search,
} from '../../tables/search.ts';
import { clip, counted, formatCount, linesOf, printable, utcSecond } from '../../text.ts';
import { chosenRange } from '../chosen-days.ts';
import { numberFlag } from '../flags.ts';
import { print, printJsonLines } from '../terminal/output.ts';
import { openMoved } from '../tier-wiring.ts';
import type { Invocation } from '../verb.ts';
import { askedOf, endedStreams, withStore } from '../wiring.ts';

/** Hits for people; a program gets all. */
const SHOWN = 100;
const MOST_HITS = 999_999_999;
const LONGEST_RECORD = 1_000;
/** Spans of days that are named; `--json` has all days. */
const MOST_SPANS = 10;

/** Prints the hits as they are found, then what was searched; exit code 3 where days are not proven. */
export async function searchVerb(invocation: Invocation): Promise<number> {
  const { options, signal } = invocation;
  const value = String(options.value);
  if (value === '')
    throw new SettingsError('the value to search for is empty', {
      hint: 'Name the whole value of a field, for example `daywalk search 203.0.113.7`.',
    });
  const json = options.json === true;
  const limit = numberFlag('--limit', options.limit, 1, MOST_HITS) ?? (json ? null : SHOWN);
  const asked = askedOf(invocation);
  const range = chosenRange(options, 'today', asked.settings);
  return withStore(asked, async (store) => {
    const moved = options.withoutTier === true ? null : await openMoved(store);
    const ended = await endedStreams(asked, store.database);
    // With --json one document, written as the hits come: there may be more of them than fit into memory.
    if (json) printJsonLines(`{"value": ${JSON.stringify(value)}, "hits": [`);
    let separator = '';
    const tell = (hits: readonly StreamHit[]) => {
      for (const hit of hits)
        if (json) {
          printJsonLines(`${separator}${jsonOf(hit)}`);
          separator = ',';
        } else print(describeHit(hit));
    };
    const wanted = { value, streams: asked.names, ended, ...range, limit, moved };
    const report = await search(store.database, wanted, tell, signal);
    const { streams, limited } = report;
    if (json)
      printJsonLines(`], "limited": ${limited}, "streams": ${JSON.stringify(streams, null, 2)}}`);
    else print(describeReport(report));
    const proven = streams.every(({ days, unproven }) => days > 0 && unproven.length === 0);
    return proven ? EXIT.done : EXIT.gaps;
  });
}

/** The record is put in as it is stored, with every digit. */
function jsonOf({ record, ...hit }: StreamHit): string {
  return `${JSON.stringify(hit).slice(0, -1)},"record":${record}}`;
}

/** Where it stands, and the record on a line of its own. */
export function describeHit(hit: StreamHit): string[] {
  const { stream, day, walkId, pageNo, position, paths, record, fetchedAt, goneSince } = hit;
  const gone = goneSince === null ? '' : `, gone since ${utcSecond(goneSince)}`;
  return [
    `${stream} ${day}, walk ${walkId}, page ${formatCount(pageNo)}, record ${formatCount(position)}, seen ${utcSecond(fetchedAt)}${gone}: ${paths.join(', ')}`,
    `  ${clip(printable(record), LONGEST_RECORD)}`,
  ];
}

/** A line for each stream: what was found, and how many of its days are proven; below it those that are not. */
export function describeReport({ streams, limited }: SearchReport): string[] {
  return linesOf(
    streams.flatMap(describeStream),
    limited && 'It ended at the limit of hits; --limit raises it.',
  );
}

function describeStream(searched: SearchedStream): string[] {
  const { stream, from, to, hits, finished, days, proven, unproven } = searched;
  if (from === null || to === null)
    return [
      `${stream}: no day to search: none is closed there, or \`daywalk run\` has exported none yet`,
    ];
  const found = hits === 0 ? 'nothing' : counted(hits, 'hit');
  const what = finished ? found : hits === 0 ? 'not searched' : `${found} and more`;
  const coverage = `${formatCount(proven)} of ${counted(days, 'day')} proven, ${from} to ${to}`;
  if (unproven.length === 0) return [`${stream}: ${what}; ${coverage}`];
  const spans = spansOf(unproven, ({ state }) => state).map(
    (span) => `${spanText(span)} ${span.newest.state}`,
  );
  const more = spans.length - MOST_SPANS;
  return [
    `${stream}: ${what}; ${coverage}`,
    `  not proven: ${spans.slice(0, MOST_SPANS).join(', ')}${more > 0 ? ` and ${more} more` : ''}`,
    `  ${adviceFor(unproven).join('; ')}`,
  ];
}

/** What can be done about days in these states. */
const ADVICE: readonly (readonly [advice: string, states: readonly string[]])[] = [
  ['`daywalk backfill --from DAY --to DAY` walks what is before the first day', ['unplanned']],
  ['`daywalk gaps` has the commands that fill gaps', ['failed', 'pending', 'running', 'missing']],
  ['what is open is exported once it is closed', ['open']],
  ['`daywalk verify --offline` tells what of a damaged day is gone', ['damaged']],
  ['what moved to the tier is looked into without --without-tier', ['tiered']],
  ['what was pruned cannot be searched', ['pruned']],
];
const adviceFor = (found: SearchedStream['unproven']): string[] =>
  ADVICE.flatMap(([advice, states]) =>
    found.some(({ state }) => states.includes(state)) ? [advice] : [],
  );
