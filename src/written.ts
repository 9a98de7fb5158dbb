/** What was written of a day, and the digest over its lines that every format of it shares. */
import { createHash } from 'node:crypto';

/** A record or a row as the text of its line. */
export interface FileLine {
  readonly text: string;
}

/** A day's file. */
export interface Written {
  readonly records: number;
  /** SHA-256 of the lines of NDJSON, whatever the format is: SQL can recompute it. */
  readonly recordsSha256: string;
  /** Size of the file. */
  readonly bytes: number;
  /** SHA-256 of the file. */
  readonly sha256: string;
}

/** Counts records and makes their digest, as lines. */
export class LineDigest {
  readonly #hash = createHash('sha256');
  #records = 0;

  /** Takes records in, and gives them back as lines. */
  take(records: readonly FileLine[]): Buffer {
    let text = '';
    for (const record of records) text += `${record.text}\n`;
    const lines = Buffer.from(text);
    this.#hash.update(lines);
    this.#records += records.length;
    return lines;
  }

  end(): Pick<Written, 'records' | 'recordsSha256'> {
    return { records: this.#records, recordsSha256: this.#hash.digest('hex') };
  }
}
