/** A secret is a text that shows itself only to who asks for it by name. */

/** What stands wherever a secret would. */
export const MASK = '••••';

/** Printed, logged, joined to a text or turned into JSON, it is `••••`. */
export class Secret {
  readonly #value: string;
  constructor(value: string) {
    this.#value = value;
  }
  /** The text itself; for the one place that sends it. */
  reveal(): string {
    return this.#value;
  }
  toString(): string {
    return MASK;
  }
  toJSON(): string {
    return MASK;
  }
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return MASK;
  }
}
