/** What was written of a day, and its digests: of the file, and over its lines, which every format of it shares. */
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

/** Counts records and makes their digest, as lines; counts the bytes of the file and makes its digest. */
export class WrittenDigest {
  readonly #lines = createHash('sha256');
  readonly #file = createHash('sha256');
  #records = 0;
  #bytes = 0;

  /** Takes records in, and gives them back as lines. */
  take(records: readonly FileLine[]): Buffer {
    let text = '';
    for (const record of records) text += `${record.text}\n`;
    const lines = Buffer.from(text);
    this.#lines.update(lines);
    this.#records += records.length;
    return lines;
  }

  /** Takes in the next bytes of the file. */
  takeBytes(bytes: Uint8Array): void {
    this.#file.update(bytes);
    this.#bytes += bytes.length;
  }

  end(): Written {
    const [recordsSha256, sha256] = [this.#lines.digest('hex'), this.#file.digest('hex')];
    return { records: this.#records, recordsSha256, bytes: this.#bytes, sha256 };
  }
}
