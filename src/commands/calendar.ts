/** The coverage calendar of `daywalk status`: one row a month, one cell a day, as text. */
import type { Day } from '../model.ts';
import { formatCount } from '../report/format.ts';

/** How a day is shown. */
interface Look {
  readonly glyph: string;
  readonly ascii: string;
  /** Select Graphic Rendition code of ANSI terminals. */
  readonly colour: string;
  readonly meaning: string;
}

/** In the order of the legend; the glyphs tell the states apart without the colours. */
const LOOKS = {
  complete: { glyph: '█', ascii: '#', colour: '32', meaning: 'complete' },
  empty: { glyph: '░', ascii: 'o', colour: '32', meaning: 'complete, no events' },
  running: { glyph: '▶', ascii: '>', colour: '36', meaning: 'being walked' },
  failed: { glyph: '✗', ascii: 'X', colour: '31', meaning: 'failed' },
  missing: { glyph: '?', ascii: '?', colour: '33', meaning: 'missing' },
  open: { glyph: '·', ascii: '.', colour: '2', meaning: 'not closed yet' },
  out: { glyph: ' ', ascii: ' ', colour: '', meaning: 'out of scope' },
} as const satisfies Record<string, Look>;

export type CellState = keyof typeof LOOKS;

export interface CalendarStream {
  readonly stream: string;
  /** In any order; days that are not in it are out of scope. */
  readonly days: readonly { readonly day: Day; readonly state: CellState }[];
}

export interface CalendarOptions {
  /** The months to show, `YYYY-MM`; absent: those that have any day, at most the last 13. */
  readonly months?: readonly string[];
  readonly colour: boolean;
  /** False for a terminal without UTF-8. */
  readonly unicode: boolean;
  /** Columns of the terminal; the legend is wrapped there. */
  readonly width: number;
}

const MONTHS_SHOWN = 13;
/** As wide as `2026-03  `. */
const MARGIN = ' '.repeat(9);

/** The calendar of the streams, line by line; empty when there is nothing to show. */
export function renderCalendar(
  streams: readonly CalendarStream[],
  options: CalendarOptions,
): string[] {
  const known = [
    ...new Set(streams.flatMap(({ days }) => days.map(({ day }) => monthOf(day)))),
  ].sort();
  const months = options.months ?? known.slice(-MONTHS_SHOWN);
  if (months.length === 0) return [];
  const counts = new Map<CellState, number>();
  const lines = streams.flatMap(({ stream, days }) => {
    const states = new Map(days.map(({ day, state }) => [day, state]));
    const rows = months.map((month) => {
      const cells = Array.from({ length: daysIn(month) }, (_, index) => {
        const state = states.get(`${month}-${String(index + 1).padStart(2, '0')}`) ?? 'out';
        counts.set(state, (counts.get(state) ?? 0) + 1);
        return state;
      });
      return `${month}  ${row(cells, options)}`.trimEnd();
    });
    return [stream, ruler(), ...rows, ''];
  });
  const hidden = known.filter((month) => !months.includes(month)).length;
  if (hidden > 0)
    lines.push(`${formatCount(hidden)} more ${hidden === 1 ? 'month' : 'months'} not shown`);
  return [...lines, ...legend(counts, options)];
}

function monthOf(day: Day): string {
  return day.slice(0, 7);
}

function daysIn(month: string): number {
  const [year = 0, number = 0] = month.split('-').map(Number);
  if (number === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [4, 6, 9, 11].includes(number) ? 30 : 31;
}

/** Days of the month, each number beginning above its day. */
function ruler(): string {
  const marks = [1, 5, 10, 15, 20, 25, 30];
  return MARGIN + marks.map((day, i) => String(day).padEnd((marks[i + 1] ?? day) - day)).join('');
}

/** Neighbours in the same state share one colour sequence. */
function row(cells: readonly CellState[], options: CalendarOptions): string {
  let text = '';
  for (let start = 0, end = 0; start < cells.length; start = end) {
    const state = cells[start] ?? 'out';
    while (cells[end] === state) end += 1;
    text += paint(state, end - start, options);
  }
  return text;
}

function paint(state: CellState, times: number, { colour, unicode }: CalendarOptions): string {
  const look: Look = LOOKS[state];
  const text = (unicode ? look.glyph : look.ascii).repeat(times);
  return colour && look.colour ? `\u001b[${look.colour}m${text}\u001b[0m` : text;
}

/** The states that occur, each with its days, in lines of at most `width` columns. */
function legend(counts: ReadonlyMap<CellState, number>, options: CalendarOptions): string[] {
  const lines: string[] = [];
  let columns = 0;
  for (const state of Object.keys(LOOKS) as CellState[]) {
    const count = counts.get(state);
    if (!count || state === 'out') continue;
    const text = `${LOOKS[state].meaning} ${formatCount(count)}`;
    const entry = `${paint(state, 1, options)} ${text}`;
    // A glyph and a space before the text, three spaces between entries.
    const fits = lines.length > 0 && columns + text.length + 5 <= options.width;
    lines.push(fits ? `${lines.pop()}   ${entry}` : entry);
    columns = fits ? columns + text.length + 5 : text.length + 2;
  }
  return lines;
}
