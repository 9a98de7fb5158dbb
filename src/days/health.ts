/** Whether the export is where it should be by now: judged by what is proven, not by how the last run ended. */

import type { Day } from '../model.ts';
import { closesAt, lastClosedDay } from '../plan/days.ts';
import type { Database } from '../store/database.ts';
import { type Gone, readGone } from '../store/publications.ts';
import { databaseNow } from '../store/windows.ts';
import { counted, linesOf } from '../text.ts';
import { type DayInState, readStreamDays, type StreamDays } from './covered-days.ts';
import type { DayState } from './day-states.ts';
import { acceptCommand, describeFuture, gapSpansOf, problemOf } from './gaps.ts';
import { describeLost } from './gone.ts';
import { readFirstDay } from './rows.ts';
import { lastTickUntil } from './ticks.ts';

/** When a day should be proven. */
export interface Expectation {
  readonly timeZone: string;
  readonly settleMs: number;
  /** Five cron fields, in UTC. */
  readonly schedule: string;
  /** Milliseconds from the first tick after a day closed until it is overdue. */
  readonly lateAfterMs: number;
}

/** One stream. */
export type StreamHealth = ReturnType<typeof judge>;

/**
 * `good`; `gaps`: the newest days are there, older ones or what follows them are not; `late`: the newest that should be proven is not;
 * `new`: nothing was ever planned; `refused`: as a worker tells it while the API refuses its key.
 */
export type HealthLevel = 'good' | 'gaps' | 'late' | 'new' | 'refused';

/** Reads every day of these streams, and judges the export by them. */
export async function readHealth(
  database: Database,
  streams: readonly string[],
  expectation: Expectation,
) {
  const { timeZone, settleMs } = expectation;
  const [now, first] = await Promise.all([databaseNow(database), readFirstDay(database, streams)]);
  // Of streams that were never planned there is one day to say so.
  const from = first ?? new Date(now).toISOString().slice(0, 10);
  const [days, gone] = await Promise.all([
    readStreamDays(database, { streams, from, timeZone, settleMs }),
    readGone(database, streams),
  ]);
  return { now, days, gone, health: assessHealth(days, gone, now, expectation) };
}

/** Judges the export. @param now milliseconds since the epoch, by the database's clock. */
export function assessHealth(
  streams: readonly StreamDays[],
  gone: readonly Gone[],
  now: number,
  expectation: Expectation,
) {
  const closed = streams.map(({ lastClosed }) => lastClosed).sort();
  const expected = expectedDay(closed.at(-1) ?? '1970-01-01', now, expectation);
  const judged = streams.map((stream) => judge(stream, expected, now, expectation.timeZone));
  const problems = gapSpansOf(streams.flatMap((stream) => gapsOf(stream, expected))).map(problemOf);
  const lost = gone.flatMap((standing) => {
    const text = describeLost(standing);
    return text === null ? [] : [{ text, command: acceptCommand(standing.stream) }];
  });
  const level = levelOf(streams, judged, problems.length + lost.length > 0);
  const wrong = wrongOf(judged, lost.length > 0);
  return {
    level: level as HealthLevel,
    /** All of it in one sentence. */
    sentence: sentenceOf(level, streams, judged, wrong, expected),
    /** The newest day that should be proven by now. */
    expected,
    streams: judged,
    problems,
    /** What sources lost in numbers, with the command for where that is as it should be. */
    lost,
  };
}

/** The whole export. */
export type Health = Readonly<ReturnType<typeof assessHealth>>;

/** The newest day that had its tick after its close, and `lateAfter` after it. */
function expectedDay(lastClosed: Day, now: number, expectation: Expectation): Day {
  const { schedule, timeZone, settleMs, lateAfterMs } = expectation;
  const tick = lastTickUntil(schedule, now - lateAfterMs);
  // A tick at the very instant of its close comes too early for a day.
  const had = lastClosedDay(tick - 1, timeZone, settleMs);
  return had < lastClosed ? had : lastClosed;
}

function judge(
  { stream, days, lastClosed }: StreamDays,
  expected: Day,
  now: number,
  timeZone: string,
) {
  const wanted = days.filter(({ day, state }) => state !== 'out' && day <= lastClosed);
  const lastComplete = days.findLast(isProven)?.day ?? null;
  const due = wanted.filter(({ day }) => day <= expected);
  const newest = expected < lastClosed ? expected : lastClosed;
  // It is not where the first day is still to come, whatever was exported before.
  const isWanted = due.at(-1)?.day === newest;
  return {
    stream,
    /** Whether the newest day that should be proven is, or was never wanted. */
    fresh: !isWanted || (lastComplete !== null && lastComplete >= newest),
    /** The newest day that is proven. */
    lastComplete,
    /** Milliseconds since that day ended; null: there is none. */
    lagMs: lastComplete === null ? null : Math.max(0, now - closesAt(lastComplete, timeZone, 0)),
    /** Closed days that are complete. */
    complete: wanted.filter(isProven).length,
    /** Days that are closed and wanted. */
    closed: wanted.length,
    /** Days that failed. */
    failed: wanted.filter(({ state }) => state === 'failed').length,
    /** Days that should be proven by now and are not, failed ones not among them. */
    overdue: due.filter(({ state }) => isOnItsWay(state)).length,
  };
}

function gapsOf({ stream, days }: StreamDays, expected: Day) {
  return days.flatMap(({ day, state, dueAt, lastError }) => {
    const wrong = state === 'failed' || (day <= expected && isOnItsWay(state));
    return wrong ? [{ stream, day, state, dueAt, lastError }] : [];
  });
}

const isProven = ({ state }: DayInState): boolean => state === 'complete' || state === 'empty';

/** It is not complete, and nothing is wrong with it yet. */
const isOnItsWay = (state: DayState): state is 'missing' | 'begun' | 'walked' | 'running' =>
  state === 'missing' || state === 'begun' || state === 'walked' || state === 'running';

function levelOf(
  streams: readonly StreamDays[],
  judged: readonly StreamHealth[],
  isWrong: boolean,
): Exclude<HealthLevel, 'refused'> {
  if (streams.every(({ streamId }) => streamId === null)) return 'new';
  if (judged.some(({ fresh }) => !fresh)) return 'late';
  return isWrong ? 'gaps' : 'good';
}

/** In words, with a small letter; empty: nothing. */
function wrongOf(judged: readonly StreamHealth[], isLost: boolean): string {
  const sum = (of: (stream: StreamHealth) => number) =>
    judged.reduce((total, stream) => total + of(stream), 0);
  const failed = sum((stream) => stream.failed);
  const overdue = sum((stream) => stream.overdue);
  return linesOf(
    failed > 0 && `${counted(failed, 'day')} failed`,
    overdue > 0 && `${counted(overdue, 'day')} ${overdue === 1 ? 'is' : 'are'} overdue`,
    isLost && 'a source does not show some records any more (they are kept here)',
  ).join(' and ');
}

function sentenceOf(
  level: Exclude<HealthLevel, 'refused'>,
  streams: readonly StreamDays[],
  judged: readonly StreamHealth[],
  wrong: string,
  expected: Day,
): string {
  switch (level) {
    case 'new':
      return 'Nothing is exported yet; the first run begins with the days that are due.';
    case 'good': {
      const future = describeFuture(streams);
      if (future.length > 0) return `${future.join('; ')}.`;
      // A stream that has ended says nothing of the newest days.
      const going = judged.filter((_, index) => (streams[index]?.until ?? expected) >= expected);
      const newest = (going.length > 0 ? going : judged)
        .flatMap(({ lastComplete }) => lastComplete ?? [])
        .sort();
      return newest.length === 0
        ? 'No day is closed yet; the first one will be exported when it is.'
        : `All is well: every day that should be here is complete, up to ${longDay(newest[0] ?? '')}.`;
    }
    case 'gaps':
      return `${wrong[0]?.toUpperCase()}${wrong.slice(1)}; the newest days are complete.`;
    case 'late': {
      const late = judged.filter(({ fresh }) => !fresh).map(({ stream }) => stream);
      const walked = streams.some(({ days }) => days.some(({ state }) => state === 'running'));
      const state = walked ? 'catching up' : 'late';
      return `${late.join(' and ')} ${late.length === 1 ? 'is' : 'are'} ${state}: ${longDay(expected)} should be complete by now${wrong === '' ? '' : `; ${wrong}`}.`;
    }
  }
}

/** `20 November 2026`. */
export const longDay = (day: Day): string =>
  new Date(day).toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
