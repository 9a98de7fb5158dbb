/** The coverage calendar: each state told apart, with and without colours, in a fixed shape. */
import { stripVTControlCharacters, styleText } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type CalendarStream, renderCalendar } from '../../src/cli/terminal/calendar.ts';
import type { DayState } from '../../src/days/day-states.ts';

const WIDTH = 80;

/** A month by a pattern, one letter a day. */
function month(name: string, pattern: string): CalendarStream['days'] {
  const states: Record<string, DayState> = {
    c: 'complete',
    e: 'empty',
    o: 'open',
    r: 'running',
    f: 'failed',
    m: 'missing',
  };
  return Array.from(pattern, (letter, i) => ({
    day: `${name}-${String(i + 1).padStart(2, '0')}`,
    state: states[letter] ?? 'out',
  }));
}

beforeEach(() => void vi.stubEnv('FORCE_COLOR', '0'));
afterEach(() => void vi.unstubAllEnvs());

const march = { stream: 'events', days: month('2026-03', '  ccccecccccccfcccmmccccccccroo') };

describe('the calendar', () => {
  it('has a heading, a ruler, a row a month and a legend of the states that occur', () => {
    const february = month('2026-02', `${' '.repeat(27)}c`);
    expect(
      renderCalendar([{ stream: 'events', days: [...march.days, ...february] }], WIDTH),
    ).toEqual([
      '         events',
      '         1   5    10   15   20   25   30',
      '2026-02                             █',
      '2026-03    ████░███████✗███??████████▸··',
      '',
      '█ complete 23   ░ complete, no events 1   ▸ being walked 1   ✗ failed 1',
      '? not walked yet 2   · not closed yet 2',
    ]);
  });

  it('puts the numbers of the ruler above their days', () => {
    const [, ruler = '', row = ''] = renderCalendar([march], WIDTH);
    for (const day of [1, 5, 10, 15, 20, 25, 30]) expect(ruler.indexOf(String(day))).toBe(8 + day);
    expect(row.indexOf('✗')).toBe(8 + 15);
  });

  it('with colours is the same text', () => {
    vi.stubEnv('FORCE_COLOR', '1');
    const coloured = renderCalendar([march], WIDTH);
    vi.stubEnv('FORCE_COLOR', '0');
    expect(coloured.join('\n')).toContain(`${styleText('red', '✗', { validateStream: false })} `);
    const bare = coloured.map((line) => stripVTControlCharacters(line));
    expect(bare).toEqual(renderCalendar([march], WIDTH));
  });

  it('tells all states apart by their glyphs alone', () => {
    const days = month('2026-03', 'ceorfm ');
    const row = renderCalendar([{ stream: 's', days }], WIDTH)[2] ?? '';
    expect(new Set(row.slice(9)).size).toBe(6);
  });

  it('shows every month from the first with a day in scope to the last, with the empty ones between', () => {
    const days = [
      { day: '2025-09-30', state: 'out' as const },
      { day: '2025-11-30', state: 'complete' as const },
      { day: '2026-02-01', state: 'open' as const },
      { day: '2026-03-01', state: 'out' as const },
    ];
    const lines = renderCalendar([{ stream: 's', days }], WIDTH);
    expect(lines.filter((line) => /^\d{4}/.test(line)).map((line) => line.slice(0, 7))).toEqual([
      '2025-11',
      '2025-12',
      '2026-01',
      '2026-02',
    ]);
  });

  it('puts as many streams side by side as fit, with the same months, each below its own ruler', () => {
    const april = { stream: 'smart-event', days: month('2026-04', 'cc') };
    const long = {
      stream: 'a-stream-with-a-name-of-forty-characters',
      days: month('2026-03', 'f'),
    };
    expect(renderCalendar([march, april, long], WIDTH)).toEqual([
      '         events                           smart-event',
      '         1   5    10   15   20   25   30  1   5    10   15   20   25   30',
      '2026-03    ████░███████✗███??████████▸··',
      '2026-04                                   ██',
      '',
      '         a-stream-with-a-name-of-forty-…',
      '         1   5    10   15   20   25   30',
      '2026-03  ✗',
      '2026-04',
      '',
      '█ complete 24   ░ complete, no events 1   ▸ being walked 1   ✗ failed 2',
      '? not walked yet 2   · not closed yet 2',
    ]);
    for (const [width, columns] of [
      [30, 1],
      [72, 1],
      [73, 2],
      [105, 2],
      [106, 3],
    ] as const) {
      const [names = ''] = renderCalendar([march, april, long], width);
      expect(names.trim().split(/\s+/)).toHaveLength(columns);
    }
  });

  it('is nothing without days', () => {
    expect(renderCalendar([], WIDTH)).toEqual([]);
    expect(renderCalendar([{ stream: 's', days: [] }], WIDTH)).toEqual([]);
  });

  it('keeps the legend within the width', () => {
    for (const width of [30, 44, 60, 120]) {
      const lines = renderCalendar([march], width);
      const legend = lines.slice(lines.indexOf('') + 1);
      expect(Math.max(...legend.map((line) => line.length))).toBeLessThanOrEqual(width);
      expect(legend.join('   ')).toContain('✗ failed 1   ? not walked yet 2');
    }
  });
});
