/** The coverage calendar of `daywalk status`: one row a month, one cell a day, streams side by side, as text. */

import { styleText } from 'node:util';
import { countStates } from '../../days/covered-days.ts';
import { DAY_STATE_WORDS, type DayState } from '../../days/day-states.ts';
import type { Day } from '../../model.ts';
import { nextMonth } from '../../plan/days.ts';
import { clip, formatCount } from '../../text.ts';

/** In the order of the legend; the glyphs tell the states apart without the colours. */
const LOOKS = {
  complete: ['█', 'green'],
  empty: ['░', 'green'],
  running: ['▸', 'cyan'],
  failed: ['✗', 'red'],
  walked: ['▒', 'yellow'],
  begun: ['▄', 'yellow'],
  missing: ['?', 'yellow'],
  open: ['·', 'dim'],
  out: [' ', null],
} as const satisfies Record<DayState, unknown>;

export interface CalendarStream {
  readonly stream: string;
  /** In any order; days that are not in it are out of scope. */
  readonly days: readonly { readonly day: Day; readonly state: DayState }[];
}

/** As wide as `2026-03  `. */
const MARGIN = ' '.repeat(9);
/** `01` to `31`. */
const DAYS = Array.from({ length: 31 }, (_, index) => String(index + 1).padStart(2, '0'));
const LONGEST_MONTH = DAYS.length;
const BETWEEN = '  ';
/** The days that the ruler names. */
const MARKS = [1, 5, 10, 15, 20, 25, 30];

/**
 * The calendar of the streams, line by line, over all months in which any has a day; empty when there is nothing to show.
 * @param width columns of the terminal: how many streams stand side by side, and where the legend is wrapped.
 */
export function renderCalendar(streams: readonly CalendarStream[], width: number): string[] {
  const inScope = streams.map(({ stream, days }) => ({
    stream,
    states: new Map(days.filter(({ state }) => state !== 'out').map((d) => [d.day, d.state])),
  }));
  const months = monthsOf(inScope.flatMap(({ states }) => [...states.keys()]));
  if (months.length === 0) return [];
  const room = width - MARGIN.length + BETWEEN.length;
  const abreast = Math.max(1, Math.floor(room / (LONGEST_MONTH + BETWEEN.length)));
  const lines: string[] = [];
  for (let first = 0; first < inScope.length; first += abreast)
    lines.push(...block(inScope.slice(first, first + abreast), months), '');
  return [...lines, ...legend(countStates(streams.flatMap(({ days }) => days)), width)];
}

interface Shown {
  readonly stream: string;
  readonly states: ReadonlyMap<Day, DayState>;
}

/** Streams side by side: their names, a ruler, and a row a month. */
function block(streams: readonly Shown[], months: readonly string[]): string[] {
  const beside = (margin: string, columns: readonly string[]) =>
    `${margin}${columns.join(BETWEEN)}`.trimEnd();
  const names = streams.map(({ stream }) => clip(stream, LONGEST_MONTH).padEnd(LONGEST_MONTH));
  return [
    beside(MARGIN, names),
    beside(MARGIN, streams.map(ruler)),
    ...months.map((month) => {
      const rows = streams.map(({ states }) =>
        DAYS.map((day) => paint(states.get(`${month}-${day}`) ?? 'out')).join(''),
      );
      return beside(`${month}  `, rows);
    }),
  ];
}

/** Every month from the oldest of these days to the newest, those between without any of them too. */
function monthsOf(days: readonly Day[]): string[] {
  const known = days.map((day) => day.slice(0, 7)).sort();
  const [first, last] = [known[0], known.at(-1)];
  if (first === undefined || last === undefined) return [];
  const months: string[] = [];
  for (let month = first; month <= last; month = nextMonth(month)) months.push(month);
  return months;
}

/** Days of the month, each number beginning above its day. */
function ruler(): string {
  const marks = MARKS.map((day, i) => String(day).padEnd((MARKS[i + 1] ?? day) - day));
  return marks.join('').padEnd(LONGEST_MONTH);
}

/** In colour where stdout shows any: Node.js asks the terminal, FORCE_COLOR and NO_COLOR. */
function paint(state: DayState): string {
  const [glyph, colour] = LOOKS[state];
  return colour === null ? glyph : styleText(colour, glyph);
}

/** The states that occur, each with its days, in lines of at most `width` columns. */
function legend(counts: ReadonlyMap<DayState, number>, width: number): string[] {
  const lines: string[] = [];
  let columns = 0;
  for (const state of Object.keys(LOOKS) as DayState[]) {
    const count = counts.get(state);
    if (!count || state === 'out') continue;
    const text = `${DAY_STATE_WORDS[state]} ${formatCount(count)}`;
    const entry = `${paint(state)} ${text}`;
    // A glyph and a space before the text, three spaces between entries.
    const fits = lines.length > 0 && columns + text.length + 5 <= width;
    lines.push(fits ? `${lines.pop()}   ${entry}` : entry);
    columns = fits ? columns + text.length + 5 : text.length + 2;
  }
  return lines;
}
