/** Cuts a stream of the Postgres wire protocol (version 3) into messages (PostgreSQL manual, chapter "Message Formats"). */

/** One message as it came. */
export interface Message {
  readonly bytes: Buffer;
  /** Its letter; empty for the messages before a session, which have none. */
  readonly type: string;
  /** The SQL text, of a Parse or Query message. */
  readonly statement?: string;
}

/** Collects chunks until messages are whole. */
export class Messages {
  #rest = Buffer.alloc(0);
  #started: boolean;

  /** `startup`: the first message has no letter, as a client's has not. */
  constructor(first: 'startup' | 'typed') {
    this.#started = first === 'typed';
  }

  /** The messages that `chunk` completes. */
  add(chunk: Buffer): Message[] {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    const whole: Message[] = [];
    for (;;) {
      const letter = this.#started ? 1 : 0;
      if (this.#rest.length < letter + 4) return whole;
      const length = letter + this.#rest.readUInt32BE(letter);
      if (this.#rest.length < length) return whole;
      const bytes = this.#rest.subarray(0, length);
      this.#rest = this.#rest.subarray(length);
      whole.push(messageOf(bytes, this.#started));
      this.#started = true;
    }
  }
}

function messageOf(bytes: Buffer, typed: boolean): Message {
  if (!typed) return { bytes, type: '' };
  const type = String.fromCharCode(bytes[0] ?? 0);
  if (type === 'Q') return { bytes, type, statement: textAt(bytes, 5) };
  // Parse: the name of the prepared statement, then its text.
  if (type === 'P') return { bytes, type, statement: textAt(bytes, bytes.indexOf(0, 5) + 1) };
  return { bytes, type };
}

function textAt(bytes: Buffer, from: number): string {
  return bytes.toString('utf8', from, bytes.indexOf(0, from));
}
