/** A terminal as a grid of characters: as much of one as a program needs that moves up, clears and writes lines. */
import type { Terminal } from '../../src/cli/terminal/live-lines.ts';

/** Everything that was ever written, as it would stand in the scrollback. Lines longer than it is wide go on below. */
export class Screen implements Terminal {
  columns: number;
  rows: number;
  readonly writes: string[] = [];
  #lines: string[] = [''];
  #row = 0;
  #column = 0;
  readonly #listeners: (() => void)[] = [];

  constructor(columns: number, rows: number) {
    this.columns = columns;
    this.rows = rows;
  }

  getWindowSize(): [number, number] {
    return [this.columns, this.rows];
  }

  on(_event: 'resize', listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Becomes narrower or wider; lines that are too long are broken, as terminals do that reflow. */
  resize(columns: number): void {
    const broken = this.#lines.slice(0, this.#row + 1).flatMap((line) => pieces(line, columns));
    this.#row = broken.length - 1;
    this.#column = broken.at(-1)?.length ?? 0;
    this.#lines = broken;
    this.columns = columns;
    for (const listener of this.#listeners) listener();
  }

  write(text: string): void {
    this.writes.push(text);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences that a terminal obeys
    for (const [token] of text.matchAll(/\u001b\[\d*[A-Z]|[\s\S]/g)) this.#obey(token);
  }

  /** What a person sees, without the blank end. */
  seen(): string[] {
    const lines = this.#lines.map((line) => line.trimEnd());
    while (lines.at(-1) === '') lines.pop();
    return lines;
  }

  #obey(token: string): void {
    if (token === '\n') {
      this.#row += 1;
      this.#column = 0;
      if (this.#row === this.#lines.length) this.#lines.push('');
    } else if (token === '\r') this.#column = 0;
    else if (token === '\u001b[K') this.#lines[this.#row] = this.#line().slice(0, this.#column);
    else if (token === '\u001b[J') {
      this.#lines.length = this.#row + 1;
      this.#lines[this.#row] = this.#line().slice(0, this.#column);
    } else if (token.endsWith('A')) this.#row = Math.max(0, this.#row - Number(token.slice(2, -1)));
    else if (token.startsWith('\u001b'))
      throw new Error(`no terminal of ours obeys ${JSON.stringify(token)}`);
    else this.#put(token);
  }

  #put(character: string): void {
    if (this.#column === this.columns) this.#obey('\n');
    const line = this.#line().padEnd(this.#column);
    this.#lines[this.#row] = line.slice(0, this.#column) + character + line.slice(this.#column + 1);
    this.#column += 1;
  }

  #line(): string {
    return this.#lines[this.#row] ?? '';
  }
}

function pieces(line: string, columns: number): string[] {
  const parts = [];
  for (let at = 0; at < Math.max(1, line.length); at += columns)
    parts.push(line.slice(at, at + columns));
  return parts;
}
