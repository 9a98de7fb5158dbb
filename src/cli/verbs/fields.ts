/** `daywalk fields`: which fields the stored records have, since when, how often, and a value of each. */

import { EXIT } from '../../errors.ts';
import { formatJsonPath } from '../../settings/values/paths.ts';
import { type Field, type FieldReport, findFields } from '../../tables/fields.ts';
import { clip, counted, formatCount, linesOf, printable } from '../../text.ts';
import { chosenRange } from '../chosen-days.ts';
import { columns, printResult } from '../terminal/output.ts';
import type { Invocation } from '../verb.ts';
import { askedOf, withStore } from '../wiring.ts';

const LONGEST_SAMPLE = 40;

/** Prints a line for each path. */
export async function fields(invocation: Invocation): Promise<number> {
  const asked = askedOf(invocation);
  const { options, names: streams } = asked;
  const range = chosenRange(options, 'today', asked.settings);
  return withStore(asked, async ({ database }) => {
    const wanted = { streams, ...range, all: options.all === true };
    const report = await findFields(database, wanted, asked.signal);
    printResult(options, report, () => describeFields(report));
    return EXIT.done;
  });
}

/** A table for each stream, and how much of it was looked at. */
export function describeFields({ fields, looked }: FieldReport): string[] {
  return looked.flatMap((look, index) => {
    const { stream, days, daysStored, daysTiered, records, recordsStored } = look;
    const ours = fields
      .filter((field) => field.stream === stream)
      .map(cellsOf)
      .sort(byPath);
    const rows = [['path', 'types', 'share', 'first day', 'last day', 'sample'], ...ours];
    const exact = records === recordsStored;
    const more = exact ? '' : '; --all looks at every one';
    const away =
      daysTiered === 0 ? '' : `; ${counted(daysTiered, 'day')} in the tier not looked at`;
    return linesOf(
      index > 0 && '',
      `${stream}: ${exact ? 'all' : `${formatCount(records)} of`} ${formatCount(recordsStored)} records on ${formatCount(days)} of ${formatCount(daysStored)} days${more}${away}`,
      ours.length > 0 && columns(rows),
    );
  });
}

const byPath = ([a = '']: string[], [b = '']: string[]) => (a < b ? -1 : 1);

function cellsOf({ path, types, share, firstDay, lastDay, sample }: Field): string[] {
  return [
    // As settings take it, but for lists: `rule.mitre.id[]`.
    printable(formatJsonPath(path).replaceAll('.[]', '[]')),
    types.join(', '),
    `${share < 0.001 ? '<0.1' : (share * 100).toFixed(1)} %`,
    firstDay,
    lastDay,
    sample === null ? '' : clip(printable(sample), LONGEST_SAMPLE),
  ];
}
