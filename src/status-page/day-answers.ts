/** Answers that are read for one day, one month, or for programs. */
import type { Answer } from '../answer.ts';
import { readStreamDays } from '../days/covered-days.ts';
import { readDayPages } from '../days/page-rows.ts';
import { readStatus, statusDocument } from '../days/status.ts';
import { readDayStory } from '../days/story-rows.ts';
import type { Day } from '../model.ts';
import { lastDayOf } from '../plan/days.ts';
import type { FactsParts } from './facts.ts';
import { page } from './html.ts';
import { dayPage, PAGES_SHOWN } from './pages/day-page.ts';
import { monthPage } from './pages/month-page.ts';

/** What reading them needs. */
export interface DayParts extends FactsParts {
  readonly version: string;
}

/** The page of a day. */
export async function readDayAnswer(
  { database, version }: DayParts,
  stream: string,
  day: Day,
): Promise<Answer> {
  const [story, pages] = await Promise.all([
    readDayStory(database, stream, day),
    readDayPages(database, stream, day, PAGES_SHOWN),
  ]);
  return page(dayPage({ version, story, pages }));
}

/** The page of a month. @param month `YYYY-MM`. */
export async function readMonthAnswer(
  { database, version, expectation }: DayParts,
  stream: string,
  month: string,
): Promise<Answer> {
  const asked = { streams: [stream], from: `${month}-01`, to: lastDayOf(month), ...expectation };
  const [found] = await readStreamDays(database, asked);
  return page(monthPage({ version, stream, month, days: found?.days ?? [] }));
}

/** The document of `status --json`. */
export async function readStatusDocument({
  database,
  streams,
  expectation,
}: DayParts): Promise<unknown> {
  return statusDocument(await readStatus(database, streams, expectation));
}
