/** Probes: answers that are looked at and compared with what is stored, and not stored themselves. */
import type { Contract, Page } from '../../model.ts';
import { type FactsRow, factsOf, type PageFacts, readAsJsonb } from '../bodies/page-facts.ts';
import type { Database } from '../database.ts';

/** What a probe shows, beside what a walk has stored. */
export interface ProbeFacts extends PageFacts {
  /** Its first record is the last one stored. */
  readonly beginsWithLast: boolean;
  /** Of its records, in order, to be compared as multisets. */
  readonly hashes: readonly string[];
  /** By what identifies them, none of its records stands in the walk; looked at where that is asked for. */
  readonly strangers: boolean;
}

/** What a probe is compared with. */
export interface ComparedWith {
  readonly streamId: number;
  /** 0: no walk. */
  readonly walkId: number;
  /** Also by what identifies the records. */
  readonly identities?: boolean;
  /** What is ignored in the records; absent: what the walk ignores. */
  readonly ignored?: readonly string[];
  /** Records of the answer that stand before those that were asked for; absent: none. */
  readonly before?: number;
}

/** Reads a probe's answer and compares it with the walk, without what is ignored in its records; stores nothing. */
export async function compareProbe(
  database: Database,
  { streamId, walkId, identities = false, ignored, before = 0 }: ComparedWith,
  page: Page,
  { recordsPath, totalPath, relationPath }: Contract,
): Promise<ProbeFacts> {
  const row = await readAsJsonb(page.body, ({ body }) =>
    database.one<CompareRow>(
      `call daywalk.compare_answer($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::text::jsonb,
                                   null, null, null, null, null, null, null, null, null, null, null, null, null, null)`,
      [
        ...[streamId, walkId, page.start, recordsPath, totalPath, relationPath, page.status ?? 200],
        ...[ignored ?? null, identities, before, body],
      ],
    ),
  );
  const { begins_with_last, hashes, strangers, ...facts } = row;
  return {
    ...factsOf({ ...facts, continues: true, fits: true, stored: false }, 0),
    beginsWithLast: begins_with_last ?? false,
    hashes: hashes ?? [],
    strangers: strangers ?? false,
  };
}

/** A row of `daywalk.compare_answer` (migrations/0002_storing.sql). */
interface CompareRow extends Omit<FactsRow, 'continues' | 'fits' | 'stored'> {
  begins_with_last: boolean | null;
  hashes: string[] | null;
  strangers: boolean | null;
}

/**
 * What tells of a failure at the root of a body whose list is not known yet, or on the way to it; null: nothing does.
 * @throws {EnvelopeError} where the body is not JSON.
 */
export function readFault(
  database: Database,
  page: Page,
  recordsPath: readonly string[],
): Promise<string | null> {
  return readAsJsonb(page.body, ({ body }) =>
    database.value('select fault from daywalk.frame_says($3::text::jsonb, $1, $2)', [
      recordsPath,
      page.status ?? 200,
      body,
    ]),
  );
}
