/** The coverage calendar: each state told apart, with and without colours and UTF-8, in a fixed shape. */
import { describe, expect, it } from 'vitest';
import {
  type CalendarStream,
  type CellState,
  renderCalendar,
} from '../../src/commands/calendar.ts';

const plain = { colour: false, unicode: true, width: 80 };

/** A month by a pattern, one letter a day. */
function month(name: string, pattern: string): CalendarStream['days'] {
  const states: Record<string, CellState> = {
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

const march = { stream: 'events', days: month('2026-03', '  ccccecccccccfcccmmccccccccroo') };

describe('the calendar', () => {
  it('has a heading, a ruler, a row a month and a legend of the states that occur', () => {
    const february = month('2026-02', `${' '.repeat(27)}c`);
    expect(
      renderCalendar([{ stream: 'events', days: [...march.days, ...february] }], plain),
    ).toEqual([
      'events',
      '         1   5    10   15   20   25   30',
      '2026-02                             █',
      '2026-03    ████░███████✗███??████████▶··',
      '',
      '█ complete 23   ░ complete, no events 1   ▶ being walked 1   ✗ failed 1',
      '? missing 2   · not closed yet 2',
    ]);
  });

  it('puts the numbers of the ruler above their days', () => {
    const [, ruler = '', row = ''] = renderCalendar([march], plain);
    for (const day of [1, 5, 10, 15, 20, 25, 30]) expect(ruler.indexOf(String(day))).toBe(8 + day);
    expect(row.indexOf('✗')).toBe(8 + 15);
  });

  it('does without UTF-8', () => {
    const lines = renderCalendar([march], { ...plain, unicode: false });
    expect(lines[2]).toBe('2026-03    ####o#######X###??########>..');
    expect(lines.join('')).toMatch(/^[\x20-\x7e]*$/);
  });

  it('with colours is the same text', () => {
    const coloured = renderCalendar([march], { ...plain, colour: true });
    expect(coloured.join('\n')).toContain('\u001b[31m✗\u001b[0m');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape of ANSI sequences
    const bare = coloured.map((line) => line.replace(/\u001b\[\d+m/g, ''));
    expect(bare).toEqual(renderCalendar([march], plain));
  });

  it('tells all states apart by their glyphs alone', () => {
    const days = month('2026-03', 'ceorfm ');
    for (const unicode of [true, false]) {
      const row = renderCalendar([{ stream: 's', days }], { ...plain, unicode })[2] ?? '';
      expect(new Set(row.slice(9)).size).toBe(6);
    }
  });

  it('shows the last 13 months, and says that there are more', () => {
    const days = Array.from({ length: 15 }, (_, i) => ({
      day: `${2025 + Math.floor(i / 12)}-${String((i % 12) + 1).padStart(2, '0')}-01`,
      state: 'complete' as const,
    }));
    const lines = renderCalendar([{ stream: 's', days }], plain);
    expect(lines.filter((line) => /^\d{4}/.test(line)).map((line) => line.slice(0, 7))).toEqual([
      '2025-03',
      ...['04', '05', '06', '07', '08', '09', '10', '11', '12'].map((m) => `2025-${m}`),
      ...['01', '02', '03'].map((m) => `2026-${m}`),
    ]);
    expect(lines.slice(-2)).toEqual(['2 more months not shown', '█ complete 13']);
  });

  it('shows the months that are asked for, and streams one below the other with the same months', () => {
    const other = { stream: 'smart-event', days: month('2026-04', 'cc') };
    const asked = renderCalendar([march, other], { ...plain, months: ['2026-04'] });
    expect(asked).toContain('2026-04  ██');
    expect(asked.filter((line) => line.startsWith('2026'))).toEqual(['2026-04', '2026-04  ██']);
    expect(renderCalendar([march, other], plain).filter((line) => /^2026/.test(line))).toHaveLength(
      4,
    );
  });

  it('gives a month the days that it has', () => {
    const rowOf = (name: string) =>
      renderCalendar([{ stream: 's', days: month(name, 'c'.repeat(31)) }], plain)[2]?.length;
    expect(['2024-02', '2026-02', '2100-02', '2000-02', '2026-04', '2026-12'].map(rowOf)).toEqual(
      [29, 28, 28, 29, 30, 31].map((days) => days + 9),
    );
  });

  it('is nothing without days', () => {
    expect(renderCalendar([], plain)).toEqual([]);
    expect(renderCalendar([{ stream: 's', days: [] }], plain)).toEqual([]);
  });

  it('keeps the legend within the width', () => {
    for (const width of [30, 44, 60, 120]) {
      const lines = renderCalendar([march], { ...plain, width });
      const legend = lines.slice(lines.indexOf('') + 1);
      expect(Math.max(...legend.map((line) => line.length))).toBeLessThanOrEqual(width);
      expect(legend.join('   ')).toContain('✗ failed 1   ? missing 2');
    }
  });
});
