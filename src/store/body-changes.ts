/** What was changed in a body and where, in words that can be shown. */

import type { Patched } from './body-patch.ts';
import { type BodyText, printable, receivedOffsets } from './body-text.ts';

/** What was wrong with what was changed. */
export type Fault =
  | 'nul'
  | 'surrogate'
  | 'utf8'
  | 'utf16'
  | 'bom'
  | 'number'
  | 'depth'
  | 'string-size'
  | 'elements';

/** One change of a body. */
export interface Change {
  /** A JSON pointer to the changed value, or to the value of the changed key, in the body as it is after the change. */
  readonly path: string;
  /** Of what was changed, in the received body, in bytes. */
  readonly offset: number;
  readonly what: Fault;
  /** What was there: printable, at most 80 characters. */
  readonly found: string;
}

/** A step of a path: into a list, or to the key that begins at a place of the patched text. */
export type Step = { readonly index: number } | { readonly keyPlace: number };

interface Noted {
  readonly what: Fault;
  readonly from: number;
  readonly to: number;
  readonly steps: readonly Step[];
}

/** Where a list of changes stood, to go back to. */
export interface ChangesMark {
  readonly listed: number;
  readonly count: number;
}

/** So many changes are told; the others are counted. */
export const MOST_LISTED = 1_000;
const LONGEST_FOUND = 80;
const LONGEST_PATH = 256;
const LONGEST_STEP = 64;
/** A key of more bytes is shown as it was written, without taking its escapes off. */
const LONGEST_KEY = 1_024;

/** The changes so far, in the order of the text. */
export class Changes {
  readonly #listed: Noted[] = [];
  #count = 0;

  get count(): number {
    return this.#count;
  }

  /** Notes a change of the bytes `from` to `to` of the text; `steps` is only asked for where it is told. */
  add(what: Fault, from: number, to: number, steps: () => Step[]): void {
    this.#count += 1;
    if (this.#listed.length < MOST_LISTED) this.#listed.push({ what, from, to, steps: steps() });
  }

  mark(): ChangesMark {
    return { listed: this.#listed.length, count: this.#count };
  }

  /** Forgets everything since `mark`. */
  rewind(mark: ChangesMark): void {
    this.#listed.length = mark.listed;
    this.#count = mark.count;
  }

  /** The changes in words. */
  tell(body: Buffer, text: BodyText, patched: Patched): Change[] {
    const offsets = receivedOffsets(
      text,
      this.#listed.map(({ from }) => from),
    );
    return this.#listed.map(({ what, from, to, steps }, i) => {
      const offset = offsets[i] as number;
      const path = pathOf(steps, patched);
      // What is no UTF-8 in a text that was UTF-16 stands for half a surrogate pair.
      if (what === 'utf8' && text.encoding !== 'UTF-8')
        return { path, offset, what: 'surrogate', found: hex(body.subarray(offset, offset + 2)) };
      const bytes = text.bytes.subarray(from, to);
      const found = what === 'utf8' ? hex(bytes) : printable(bytes, LONGEST_FOUND);
      return { path, offset, what, found };
    });
  }
}

/** What was taken off a text before it was read. */
export function encodingChanges(text: BodyText): Change[] {
  if (text.encoding !== 'UTF-8')
    return [{ path: '', offset: 0, what: 'utf16', found: text.encoding }];
  return text.bom > 0 ? [{ path: '', offset: 0, what: 'bom', found: '\\xef\\xbb\\xbf' }] : [];
}

/** Bytes as they are written in a string of C. */
function hex(bytes: Buffer): string {
  return Array.from(bytes, (byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
}

/** A JSON pointer (RFC 6901), its steps and itself shortened, on one line. */
export function pathOf(steps: readonly Step[], patched: Patched): string {
  const path = steps
    .map((step) => {
      if ('index' in step) return `/${step.index}`;
      const key = keyAt(patched.bytes, patched.placeOf(step.keyPlace));
      return `/${printable(key, LONGEST_STEP).replaceAll('~', '~0').replaceAll('/', '~1')}`;
    })
    .join('');
  if (path.length <= LONGEST_PATH) return path;
  const half = LONGEST_PATH / 2 - 1;
  return `${path.slice(0, half)}…${path.slice(-half)}`.replace(/\p{Cs}/gu, '');
}

/** The text of the key that begins at `from`. */
function keyAt(bytes: Buffer, from: number): string {
  const most = Math.min(bytes.length, from + LONGEST_KEY);
  for (let at = from + 1; at < most; at += 1) {
    if (bytes[at] === 0x22) return JSON.parse(bytes.toString('utf8', from, at + 1)) as string;
    if (bytes[at] === 0x5c) at += 1;
  }
  return bytes.toString('utf8', from + 1, most);
}
