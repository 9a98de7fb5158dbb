/** Days, totals and gaps read from the tables agree with the views that people read, on scenes drawn at random. */
import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { readGaps } from '../../src/days/coverage-rows.ts';
import { readStreamDays } from '../../src/days/covered-days.ts';
import { readTotals } from '../../src/days/rows.ts';
import { addDays, closesAt, daysBetween } from '../../src/plan/days.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { clear, openDatabase } from '../support/store.ts';

let server: TestDatabase;
beforeAll(async () => {
  server = await createTestDatabase();
});

const dayOrNull = (ago: number | null) => (ago === null ? 'null' : `'${addDays(today, -ago)}'`);
const STREAMS = ['one', 'two', 'three'];
const today = new Date().toISOString().slice(0, 10);
const FIRST = addDays(today, -20);

/** A day of a stream: how its window and the cut behind it stand, what is shown of it, and what a mark hides. */
const dayDrawn = fc.record({
  stream: fc.integer({ min: 0, max: STREAMS.length - 1 }),
  ago: fc.integer({ min: 0, max: 19 }),
  day: fc.constantFrom('complete', 'failed', 'pending', 'split'),
  cut: fc.constantFrom('complete', 'failed', 'pending'),
  held: fc.boolean(),
  records: fc.integer({ min: 0, max: 3 }),
  mark: fc.constantFrom('hidden', 'gone', null),
});
type DayDrawn = typeof dayDrawn extends fc.Arbitrary<infer T> ? T : never;

/** The first and the last day of a stream's schedule, if it has one, in days ago. */
type Schedule = readonly [since: number, until: number | null];

async function play(days: readonly DayDrawn[], schedules: readonly Schedule[]): Promise<void> {
  await clear(server);
  for (const [index, name] of STREAMS.entries()) {
    const [since, until] = schedules[index] ?? [0, null];
    await server.query(
      `insert into daywalk.streams (name, resource, filters, fingerprint, since, until, time_zone, settle)
       values ('${name}', 'events', '{}', '', '${addDays(today, -since)}', ${dayOrNull(until)}, 'UTC', interval '1 hour')`,
    );
  }
  const values = days.map(
    (d) =>
      `(${d.stream + 1}, date '${addDays(today, -d.ago)}', '${d.day}', '${d.cut}', ${d.held}, ${d.records}, ${d.mark === null ? 'null' : `'${d.mark}'`})`,
  );
  if (values.length === 0) return;
  await server.query(
    `with drawn (stream_id, day, day_state, cut_state, held, records, mark) as (values ${values.join(', ')}),
     w as (
       insert into daywalk.windows (stream_id, kind, day, from_time, to_time, purpose, state, due_at, split_by, proof, proven_at,
                                    lease_id, lease_expires, last_error, last_failed_at)
       select stream_id, kind, day, case kind when 'day' then day else day + interval '86399 s' end,
              day + interval '86399 s' + case kind when 'day' then '0 s' else '1 s' end::interval, 'scheduled', state,
              case when state <> 'split' then clock_timestamp() end, case when state = 'split' then 'time' end,
              case when state = 'complete' then '{"kind": "probe"}'::jsonb end, case when state = 'complete' then clock_timestamp() end,
              case when held and state <> 'split' then gen_random_uuid() end,
              case when held and state <> 'split' then clock_timestamp() + interval '1 hour' end,
              case when state = 'failed' then kind || ' ' || day end, clock_timestamp()
         from drawn cross join lateral (values ('day', day_state), ('cut', cut_state)) as k (kind, state)
       returning window_id, stream_id, day, kind, state
     ), k as (
       insert into daywalk.walks (window_id, number, day, from_time, to_time, page_length, next_start, pages, bytes, outcome, proof, shown, finished_at)
       select w.window_id, 1, w.day, w.day, w.day, 10, d.records, 1, 100, 'proven', '{"kind": "probe"}', 'whole', clock_timestamp()
         from w join drawn d on d.stream_id = w.stream_id and d.day = w.day
        where w.state = 'complete' or w.kind = 'day' and w.state <> 'pending'
       returning walk_id, window_id, records
     )
     insert into daywalk.marks (walk_id, page_no, position, day, state, since)
     select k.walk_id, 0, 1, w.day, d.mark, clock_timestamp()
       from k join w using (window_id) join drawn d on d.stream_id = w.stream_id and d.day = w.day
      where d.mark is not null and k.records > 0`,
  );
  await server.query(
    'select daywalk.note_day(stream_id, day, clock_timestamp(), 0, 0) from (select distinct stream_id, day from daywalk.windows) as d',
  );
}

it('on any scene', async () => {
  const database = openDatabase(server.url);
  const ago = fc.integer({ min: 0, max: 19 });
  const scenes = fc.tuple(
    fc.uniqueArray(dayDrawn, {
      maxLength: 40,
      selector: ({ stream, ago }) => `${stream} ${ago}`,
    }),
    fc.array(fc.tuple(ago, fc.option(ago)), { minLength: 3, maxLength: 3 }),
  );
  await fc.assert(
    fc.asyncProperty(scenes, async ([drawn, schedules]) => {
      await play(drawn, schedules);
      const calendar = { timeZone: 'UTC', settleMs: 3_600_000 };
      const asked = { streams: STREAMS, from: FIRST, to: today, ...calendar };
      const [read, view, gaps, rows] = await Promise.all([
        readStreamDays(database, asked),
        server.query(
          `select stream, day::text, state, records::int, gone::int, pages::int, bytes::int, proof, windows::int,
                  complete_windows::int as "completeWindows", due_at as "dueAt", last_error as "lastError"
             from daywalk.coverage where stream = any ($1) order by day`,
          [STREAMS],
        ),
        readGaps(database, STREAMS),
        server.query(
          `select stream, day::text, state, due_at, last_error from daywalk.gaps
            order by day, array_position(array['one', 'two', 'three'], stream)`,
        ),
      ]);
      expect(read.map(({ stream }) => stream)).toEqual(STREAMS);
      for (const { stream, days, lastClosed, until } of read) {
        expect(days.map(({ day }) => day)).toEqual(daysBetween(FIRST, today));
        for (const { day, state, ...figures } of days) {
          const row = view.find((other) => other.stream === stream && other.day === day);
          if (row === undefined)
            expect(state).toBe(day > lastClosed && (until ?? day) >= day ? 'open' : 'out');
          else if (day > lastClosed && ['pending', 'failed'].includes(row.state))
            expect(state).toBe('open');
          else if (row.state === 'complete')
            expect(state).toBe(row.records === 0 ? 'empty' : 'complete');
          else if (row.state === 'pending') expect(['missing', 'begun', 'walked']).toContain(state);
          else expect(state).toBe(row.state);
          const { windows, completeWindows, records, gone, pages, bytes, proof, dueAt, lastError } =
            row ?? {};
          if (row !== undefined && row.windows > 0)
            expect(figures).toEqual({
              windows,
              completeWindows,
              records,
              gone,
              pages,
              bytes,
              proof,
              dueAt,
              lastError,
            });
        }
      }
      // The view knows no more than that they are pending; the calendar says the same of them.
      for (const { stream, day, state } of gaps)
        if (state === 'walked' || state === 'begun' || state === 'pending') {
          const days = read.find((other) => other.stream === stream)?.days ?? [];
          const found = days.find((other) => other.day === day)?.state;
          expect(['open', state === 'pending' ? 'missing' : state]).toContain(found);
        }
      const plain = gaps.map((gap) =>
        gap.state === 'walked' || gap.state === 'begun' ? { ...gap, state: 'pending' } : gap,
      );
      expect(plain).toEqual(
        rows.map(({ due_at, last_error, ...row }) => ({
          ...row,
          dueAt: due_at,
          lastError: last_error,
        })),
      );
      for (const totals of await readTotals(database, STREAMS)) {
        const own = view.filter(({ stream }) => stream === totals.stream);
        const lastClosed = read.find(({ stream }) => stream === totals.stream)?.lastClosed ?? '';
        const closed = own.filter(({ day }) => day <= lastClosed);
        const last = own.at(-1)?.day;
        const sum = (of: (row: (typeof own)[number]) => number) =>
          own.reduce((total, row) => total + of(row), 0);
        expect(totals).toEqual({
          stream: totals.stream,
          firstDay: own.find(({ windows }) => windows > 0)?.day ?? null,
          closed: closed.length,
          complete: closed.filter(({ state }) => state === 'complete').length,
          pruned: 0,
          tiered: 0,
          open: own.length - closed.length,
          openUntil:
            last === undefined || last <= lastClosed
              ? null
              : new Date(closesAt(last, 'UTC', calendar.settleMs)),
          records: sum(({ records }) => records),
          pages: sum(({ pages }) => pages),
          bytes: sum(({ bytes }) => bytes),
        });
      }
    }),
    { numRuns: 25 },
  );
});

it('a stream that was never planned has no days in scope but those that are not over', async () => {
  await clear(server);
  const asked = { streams: ['new'], from: FIRST, timeZone: 'Pacific/Auckland', settleMs: 0 };
  const [stream] = await readStreamDays(openDatabase(server.url), asked);
  expect(stream).toMatchObject({ stream: 'new', streamId: null, since: null });
  expect(stream?.days.at(-1)).toMatchObject({ day: stream?.today, state: 'open', windows: 0 });
  expect(stream?.days.slice(0, -1).every(({ state }) => state === 'out')).toBe(true);
});
