/** Problems are everything wrong with the settings, collected so that they are told at once, one line each. */
import { SettingsError } from '../errors.ts';
import { redact } from '../redactor.ts';
import { clip, printable } from '../text.ts';

/** What a parser returns instead of a value; `why` goes on from the value: `is not a whole number`. */
export class Wrong {
  readonly why: string;
  /** Whether the value may be shown: it may not where it could hold a password. */
  readonly showable: boolean;
  constructor(why: string, showable = true) {
    this.why = why;
    this.showable = showable;
  }
  /** The whole sentence about `text`. */
  about(text: string): string {
    return `${this.showable ? shown(text) : 'the value'} ${this.why}`;
  }
}

/** No error message needs more of a value than this. */
const SHOWN_CHARACTERS = 60;
/** A file of nothing but mistakes must not fill the terminal. */
const LISTED = 100;

/** `text` in quotes, cut where it is long, with nothing in it that a terminal would act on. */
export const shown = (text: string): string =>
  printable(JSON.stringify(clip(text, SHOWN_CHARACTERS)));

/** A key of the settings file or a path, as it may stand in a message: quoted where it holds anything unusual. */
export function shownWord(word: string): string {
  return /^[\w./@+-]{1,200}$/.test(word) ? word : shown(word);
}

/** Collects problems. */
export class Problems {
  /** Told at the end, when every secret is known. */
  readonly #lines: (() => string)[] = [];
  #secrets: readonly string[] = [];

  /** `what` is wrong at `place`; given as a function, it is only worked out if it is told. */
  add(place: string, what: string | (() => string)): void {
    this.#lines.push(() => `${place}: ${typeof what === 'string' ? what : what()}`);
  }

  /** `text`, found at `place`, is wrong. */
  addWrong(place: string, text: string, wrong: Wrong): void {
    this.#lines.push(() => {
      // A cut secret would not be found by the mask below.
      const holdsSecret = redact(text, this.#secrets) !== text;
      return `${place}: ${(holdsSecret ? new Wrong(wrong.why, false) : wrong).about(text)}`;
    });
  }

  /** `text` must not appear in the message, even if it was also written where no secret belongs. */
  hide(text: string): void {
    this.#secrets = [...this.#secrets, text, text.trim()];
  }

  /** @throws SettingsError that tells all problems, if there are any. */
  throwIfAny(): void {
    const count = this.#lines.length;
    if (count === 0) return;
    const lines = this.#lines.slice(0, LISTED).map((line) => redact(line(), this.#secrets));
    if (count > LISTED) lines.push(`… and ${count - LISTED} more`);
    throw new SettingsError(
      count === 1
        ? lines.join('')
        : [`${count} settings are wrong:`, ...lines.map((line) => `  ${line}`)].join('\n'),
    );
  }
}
