/** Live lines on a terminal: whatever is shown, logged and resized, the log stays whole and nothing else is left. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LiveLines } from '../../src/cli/terminal/live-lines.ts';
import { Screen } from '../support/screen.ts';

const text = fc.stringMatching(/^[a-z]{1,30}$/);
const step = fc.oneof(
  fc.record({ do: fc.constant('show' as const), lines: fc.array(text, { maxLength: 5 }) }),
  fc.record({ do: fc.constant('log' as const), line: text }),
  fc.record({ do: fc.constant('resize' as const), columns: fc.integer({ min: 8, max: 60 }) }),
  fc.record({ do: fc.constant('clear' as const) }),
);

describe('live lines', () => {
  it('leave the log as it would be without them, at every moment and at the end', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const screen = new Screen(60, 24);
        const lines = new LiveLines(screen);
        const log: string[] = [];
        let shown: readonly string[] = [];
        for (const one of steps) {
          if (one.do === 'show') {
            lines.show(one.lines);
            shown = one.lines;
          } else if (one.do === 'log') {
            lines.above(`${one.line}\n`);
            log.push(one.line);
          } else if (one.do === 'clear') {
            lines.clear();
            shown = [];
          } else screen.resize(one.columns);
          expect(screen.seen().join('')).toContain(log.join(''));
        }
        // At the narrowest moment lines were cut for good; drawn again they are whole.
        lines.show(shown);
        const cut = shown.map((line) => line.slice(0, screen.columns - 1));
        expect(screen.seen().join('')).toBe(log.join('') + cut.join(''));
        lines.clear();
        expect(screen.seen().join('')).toBe(log.join(''));
      }),
      { numRuns: 300 },
    );
  });

  it('are drawn by one write, each line overwritten before the rest of it is cleared', () => {
    const screen = new Screen(40, 24);
    const lines = new LiveLines(screen);
    lines.show(['one', 'two']);
    lines.show(['three', 'four']);
    lines.above('said\n');
    expect(screen.writes).toHaveLength(3);
    expect(screen.writes[1]).toBe('\r\u001b[2Athree\u001b[K\nfour\u001b[K\n\u001b[J');
    expect(screen.seen()).toEqual(['said', 'three', 'four']);
  });

  it('leave the next line to whoever writes after a kill', () => {
    const screen = new Screen(40, 24);
    new LiveLines(screen).show(['one', 'two']);
    screen.write('$ ');
    expect(screen.seen()).toEqual(['one', 'two', '$']);
  });

  it('end for good when someone stops the program', () => {
    const screen = new Screen(40, 24);
    const lines = new LiveLines(screen);
    lines.show(['one', 'two']);
    lines.end();
    lines.show(['three']);
    lines.above('stopping\n');
    expect(screen.seen()).toEqual(['stopping']);
  });

  it('take the log as a stream, also a part that is empty', async () => {
    const screen = new Screen(40, 24);
    const lines = new LiveLines(screen);
    const stream = lines.writable();
    lines.show(['one']);
    await new Promise<void>((resolve) => {
      stream.write('a line\n');
      stream.write('', () => resolve());
    });
    expect(screen.seen()).toEqual(['a line', 'one']);
  });
});
