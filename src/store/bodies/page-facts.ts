/** What Postgres reads in a body, while it parses it: the records, the total, the frame, and a hash of each record (I5). */
import { TooLargeError } from '../../errors.ts';
import type { Claim } from '../../model.ts';
import { BodyRefusedError } from '../connection/sqlstate.ts';
import { growsTooMuch, type Repaired, repair } from './body-repair.ts';

/** What Postgres read in an answer, and whether the page is stored. Hashes are numbers of 64 bits, as text. */
export interface PageFacts extends Omit<Claim, 'start' | 'length'> {
  /** New records: without one that was asked for again. */
  readonly records: number;
  /** Equal for pages with equal records in equal order. */
  readonly digest: string;
  /** The first record is the last one stored, where that was asked for again. */
  readonly continues: boolean;
  /** List and total are where they were on the pages before. */
  readonly fits: boolean;
  /** What in the frame tells of a failure: then it is no page. */
  readonly fault: string | null;
  /** The JSON type found in the place of the list; null: nothing. Anything but an array and null is no page. */
  readonly listType: string | null;
  /** What the frame of an answer without records is recognised by; null: it has records. */
  readonly signature: string | null;
  /** The frame holds no text. */
  readonly wordless: boolean;
  /** Such a frame is known for empty answers. */
  readonly frameKnown: boolean;
  /** True: stored, and the checkpoint moved. */
  readonly stored: boolean;
}

/** SQLSTATEs of what is larger than `jsonb` can be: a container, a string, the memory for a list. */
const TOO_LARGE = new Set(['54000', 'XX000']);

/**
 * Has a body read as `jsonb`: as it came, or repaired, where `jsonb` refuses it or could not write its numbers out again.
 * @throws {EnvelopeError} where it is not JSON.
 * @throws {TooLargeError} where it is larger than `jsonb` can be.
 */
export async function readAsJsonb<T>(
  body: Buffer,
  read: (form: Repaired) => Promise<T>,
): Promise<T> {
  // Depth is looked at where Postgres refuses it: it takes more than a refused body is cut to.
  const form = growsTooMuch(body)
    ? repair(body, { depth: Number.POSITIVE_INFINITY })
    : { body, changes: [], changeCount: 0 };
  return read(form)
    .catch((error: unknown) => {
      if (!(error instanceof BodyRefusedError) || TOO_LARGE.has(error.sqlstate)) throw error;
      return read(repair(body));
    })
    .catch((error: unknown) => {
      if (!(error instanceof BodyRefusedError) || !TOO_LARGE.has(error.sqlstate)) throw error;
      throw new TooLargeError(`the page is too large for jsonb: ${error.message}`, {
        hint: 'ask for fewer records per page (page_length)',
        cause: error,
      });
    });
}

/** A row of `daywalk.store_page` or of what reads a probe (migrations/0002_storing.sql). */
export interface FactsRow
  extends Pick<
    PageFacts,
    'total' | 'more' | 'digest' | 'continues' | 'fits' | 'fault' | 'signature' | 'stored'
  > {
  readonly came: number | null;
  readonly total_missing: boolean;
  readonly relation: string | null;
  readonly list_type: string | null;
  readonly wordless: boolean | null;
  readonly frame_known: boolean;
}

/** The facts of a page of which so many records at the beginning were stored before. */
export const factsOf = (row: FactsRow, skip: number): PageFacts => {
  const { came, relation, total_missing, list_type, wordless, frame_known, ...same } = row;
  return {
    ...same,
    records: Math.max(0, (came ?? 0) - skip),
    came: came ?? 0,
    lowerBound: isLowerBound(relation),
    totalMissing: total_missing,
    listType: list_type,
    wordless: wordless ?? false,
    frameKnown: frame_known,
  };
};

/** What a stored page claims, as its row has it. */
export type ClaimRow = Omit<Claim, 'lowerBound'> & { readonly relation: string | null };

/** The claim that a row tells of. */
export const claimOfRow = ({ relation, ...claim }: ClaimRow): Claim => ({
  ...claim,
  lowerBound: isLowerBound(relation),
});

/** Whether the word beside a total (`gte`) says that it may be more; `eq`, also in capitals, and `=` say that it is exact. */
const isLowerBound = (relation: string | null): boolean =>
  relation !== null && !['eq', '='].includes(relation.toLowerCase());
