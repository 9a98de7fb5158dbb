/** What a quiet month costs: its requests by kind, day after day, as docs/completeness-cases.md tells them. */
import { expect, it } from 'vitest';
import type { PageRequest } from '../../src/model.ts';
import { paper } from '../docs/markdown.ts';
import type { TestDatabase } from '../support/database.ts';
import { andAtNight } from '../support/night.ts';
import { letTimePass } from '../support/pass-time.ts';
import { freshStore, hastyClock, records } from '../support/store.ts';
import { closedDays, complaints, newStream, readResults, runOnce, SETTLE_MS } from './exporting.ts';
import { ImaginedSource, type Totals } from './imagined-source.ts';

const DAYS = 30;
const DAY_MS = 86_400_000;
const RECHECK_DAYS = 3;

let server: TestDatabase;
freshStore((store) => {
  ({ server } = store);
});

/** What a request is for. */
const KINDS = ['windows', 'proofs', 'cuts', 'looks', 'known answers'] as const;
type Kind = (typeof KINDS)[number];

const dayOf = (time: string) => time.slice(0, 10);
const isWholeDay = ({ from, to }: PageRequest) =>
  from.endsWith(' 00:00:00') && to === `${dayOf(from)} 23:59:59`;
/** An hour at most on one side of a midnight, and two minutes on the other; or what a cut shows besides where nothing is known of dates. */
const isAtMidnight = ({ from, to }: PageRequest) =>
  (Date.parse(to) - Date.parse(from) < 4_000_000 &&
    (dayOf(from) !== dayOf(to) || from.endsWith(' 00:00:00') || to.endsWith(' 23:59:59'))) ||
  // What asks for dates reaches a second or two beyond a midnight.
  (dayOf(from) !== dayOf(to) &&
    !(from.endsWith(' 23:59:58') || to.endsWith(' 00:00:01')) &&
    (from.endsWith(' 21:00:00') || to.endsWith(' 02:59:59')));

/** The kinds of the requests of one run; days that were complete before it are looked at. @param empty days that hold nothing. */
function kindsOf(
  asked: readonly PageRequest[],
  complete: ReadonlySet<string>,
  empty: ReadonlySet<string>,
): Kind[] {
  const begun = new Set<string>();
  return asked.map((request) => {
    const day = dayOf(request.from);
    if (!isWholeDay(request)) return isAtMidnight(request) ? 'cuts' : 'proofs';
    // Known answers are days with records, asked for with short lengths; so are looks at empty days.
    if (request.length <= 100 && !complete.has(day)) return 'proofs';
    if (request.length <= 100 && !empty.has(day)) return 'known answers';
    if (complete.has(day)) return 'looks';
    const page = `${day} ${request.start}`;
    if (request.start > 0 || begun.has(page)) return 'proofs';
    begun.add(page);
    return 'windows';
  });
}

/** A month of one stream: a day closes, a run comes, time passes. @returns requests by kind. */
async function monthOf(perDay: (index: number) => number, totals: Totals) {
  const days = closedDays(DAYS);
  const lists = days.map((day, index) => [day, records(1 + 1_000 * index, perDay(index))] as const);
  const source = new ImaginedSource(Object.fromEntries(lists), { totals });
  const stream = newStream();
  const counts = Object.fromEntries(KINDS.map((kind) => [kind, 0])) as Record<Kind, number>;
  const complete = new Set<string>();
  const empty = new Set(days.filter((_, index) => perDay(index) === 0));
  for (let closed = 1; closed <= DAYS; closed += 1) {
    const before = source.asked.length;
    const settleMs = SETTLE_MS + (DAYS - closed) * DAY_MS;
    const clock = { ...hastyClock, now: () => Date.now() - (DAYS - closed) * DAY_MS };
    await runOnce({
      ...{ server, source, stream, clock, settleMs, since: days[0] ?? '' },
      ...{ pageLength: 1_000, recheckDays: RECHECK_DAYS },
    });
    for (const kind of kindsOf(source.asked.slice(before), complete, empty)) counts[kind] += 1;
    complete.add(days[closed - 1] ?? '');
    await letTimePass(server, '24 hours');
  }
  expect(await complaints(server, source, stream)).toEqual([]);
  for (const { state } of (await readResults(server, stream)).values())
    expect(state).toBe('complete');
  return counts;
}

const some = (index: number) => 380 + ((index * 37) % 61);
const few = (index: number) => (index % 3 === 0 ? 0 : 5);

it.each(
  andAtNight<readonly [string, 'exact' | 'none', typeof some]>(
    [['5 alerts a day, none on every third', 'exact', few]],
    [
      ['about 400 events a day', 'exact', some],
      ['about 400 events a day', 'none', some],
    ],
  ),
)('%s, totals %s', async (stream, totals, perDay) => {
  const counts = await monthOf(perDay, totals);
  const sum = KINDS.reduce((all, kind) => all + counts[kind], 0);
  const cells = [stream, totals, ...KINDS.map((kind) => counts[kind]), sum];
  expect(paper('docs/completeness-cases.md').text).toContain(`| ${cells.join(' | ')} |`);
});

it('are noted with the walk that made them, those that stored nothing, too', async () => {
  const [day = ''] = closedDays(1);
  const source = new ImaginedSource({ [day]: records(1, 3) }, { totals: 'none' });
  const stream = newStream();
  await runOnce({ server, source, stream, since: day, pageLength: 5 });
  const own = source.asked.filter((request) => isWholeDay(request) && dayOf(request.from) === day);
  expect(own.length).toBeGreaterThan(1);
  expect(await server.query("select requests from daywalk.walks where role = 'whole'")).toEqual([
    { requests: own.length },
  ]);
});

it('are made once at a midnight that tells neither how far they must reach nor of dates, as where events stand on full minutes', async () => {
  const days = closedDays(4);
  const at = [60, 45_000].map((second) => second * 1_000);
  const lists = days.map((day) => [
    day,
    at.map((time) => JSON.stringify({ at: new Date(Date.parse(day) + time).toISOString() })),
  ]);
  const source = new ImaginedSource(Object.fromEntries(lists), {
    totals: 'exact',
    at: (record) => (Date.parse(JSON.parse(record).at) / 1_000) % 86_400,
  });
  const exporting = { server, source, stream: newStream(), since: days[0] ?? '', pageLength: 50 };
  const counts: number[] = [];
  for (let open = days.length - 1; open > 0; open -= 1) {
    const before = source.asked.length;
    await runOnce({ ...exporting, settleMs: SETTLE_MS + open * DAY_MS });
    counts.push(source.asked.length - before);
  }
  expect(counts.at(-1)).toBeLessThan(30);
});
