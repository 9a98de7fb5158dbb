/** Envelopes in the database: where the pages of a walk have list and total. */
import type { Envelope } from '../model.ts';

/** The envelope of the walk `k`; all null before its first page. */
export const ENVELOPE_COLUMNS =
  'k.records_path as "recordsPath", k.total_path as "totalPath", k.relation_path as "relationPath"';

/** The envelope in a row that has {@link ENVELOPE_COLUMNS} among others. */
export function envelopeOf({ recordsPath, totalPath, relationPath }: Envelope): Envelope {
  return { recordsPath, totalPath, relationPath };
}
