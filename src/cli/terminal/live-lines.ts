/** Lines at the bottom of a terminal that are redrawn in place; what is written meanwhile goes above them. */
import { Writable } from 'node:stream';

/** What is needed of a terminal; `process.stderr` is one. */
export interface Terminal {
  write(text: string): unknown;
  /** Asks the terminal itself; absent where stderr is none. */
  getWindowSize?(): [columns: number, rows: number];
  on(event: 'resize', listener: () => void): unknown;
}

const UP = (rows: number) => (rows > 0 ? `\u001b[${rows}A` : '');
const CLEAR_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';
const USUAL_COLUMNS = 80;
const USUAL_ROWS = 24;

/**
 * Each change is one write, and lines are overwritten before the rest is cleared, so nothing flickers. The cursor rests below
 * them: what somebody else writes, also after this process was killed, begins on a line of its own. Lines must hold no control
 * characters, and no character that is wider than one column.
 */
export class LiveLines {
  readonly #terminal: Terminal;
  #lines: readonly string[] = [];
  #over = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
    terminal.on('resize', () => {
      if (this.#lines.length > 0) this.show(this.#lines);
    });
  }

  /** Columns and rows as they are now: the news of a change may come after the next drawing. */
  get size(): readonly [columns: number, rows: number] {
    const [columns = 0, rows = 0] = this.#terminal.getWindowSize?.() ?? [];
    return [columns || USUAL_COLUMNS, rows || USUAL_ROWS];
  }

  /** Draws these lines in place of those before. */
  show(lines: readonly string[]): void {
    if (this.#over) return;
    const top = this.#top();
    const [columns] = this.size;
    this.#lines = lines.map((line) => line.slice(0, columns - 1));
    this.#terminal.write(
      top + this.#lines.map((line) => `${line}${CLEAR_LINE}\n`).join('') + CLEAR_BELOW,
    );
  }

  /** Writes text that ends in a line break above the lines. */
  above(text: string): void {
    const { length } = this.#lines;
    if (length === 0 || text === '') this.#terminal.write(text);
    else
      this.#terminal.write(
        `${this.#top()}${CLEAR_BELOW}${text}${this.#lines.map((line) => `${line}\n`).join('')}`,
      );
  }

  /** Takes the lines away. */
  clear(): void {
    if (this.#lines.length === 0) return;
    this.#terminal.write(this.#top() + CLEAR_BELOW);
    this.#lines = [];
  }

  /** Takes the lines away for good: someone is about to stop the program. */
  end(): void {
    this.clear();
    this.#over = true;
  }

  /** A stream whose text goes above the lines, for the log. */
  writable(): Writable {
    return new Writable({
      decodeStrings: false,
      write: (text, _encoding, done) => {
        this.above(String(text));
        done();
      },
    });
  }

  /** The way to the first column of the first line; a terminal that became narrower has broken the lines in pieces. */
  #top(): string {
    const [columns] = this.size;
    const rowsOf = (line: string) => Math.max(1, Math.ceil(line.length / columns));
    const rows = this.#lines.reduce((sum, line) => sum + rowsOf(line), 0);
    return `\r${UP(rows)}`;
  }
}

/** Those of stderr, where the log goes too. */
export const stderrLines = new LiveLines(process.stderr);
