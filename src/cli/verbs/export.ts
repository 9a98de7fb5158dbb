/** `daywalk export`: the records of complete days, or the rows of a record table, as files, one folder a day, with a manifest. */
import { systemClock } from '../../clock.ts';
import { fillCommand } from '../../days/gaps.ts';
import { EXIT } from '../../errors.ts';
import { type Format, recordContents } from '../../files/contents.ts';
import { BEFORE_FIRST, exportDays, type FileExportReport } from '../../files/export-days.ts';
import { type IncompleteDay, MANIFEST } from '../../files/manifest.ts';
import { tableContents } from '../../files/table-contents.ts';
import { spansOf, spanText } from '../../plan/days.ts';
import { counted, formatBytes, formatCount, formatDuration } from '../../text.ts';
import { chosenRange } from '../chosen-days.ts';
import { PATH, valueAt } from '../flags.ts';
import { printResult, shortened } from '../terminal/output.ts';
import { openMoved } from '../tier-wiring.ts';
import type { Invocation } from '../verb.ts';
import { askedOf, endedStreams, sayingSeldom, withStore } from '../wiring.ts';

const MOST_LINES = 20;

/** Writes the files; exit code 3 when days of the range are not complete. */
export async function exportVerb(invocation: Invocation): Promise<number> {
  const asked = askedOf(invocation);
  const { options, signal, settings, names } = asked;
  const range = chosenRange(options, 'today', settings);
  const folder = valueAt('flag --out', String(options.out), PATH);
  return withStore(asked, async (store) => {
    const { database } = store;
    const since = systemClock.monotonic();
    const say = sayingSeldom(store.log);
    const format = (options.format as Format | undefined) ?? null;
    const checkFiles = options.checkFiles === true;
    const contents =
      options.table === undefined
        ? recordContents(
            database,
            names,
            await openMoved(store),
            await endedStreams(asked, database),
          )
        : await tableContents(database, String(options.table));
    const wanted = { folder, contents, ...range, format, checkFiles };
    const parts = { database, clock: systemClock };
    const report = await exportDays(parts, wanted, signal, (done, days, sofar) => {
      const { written, skipped, records } = sofar;
      say({ done, days, written, skipped, records }, 'exporting to files');
    });
    const elapsedMs = systemClock.monotonic() - since;
    const document = { ...report, folder, elapsedMs: Math.round(elapsedMs) };
    printResult(options, document, () => describe(report, folder, elapsedMs));
    return report.incomplete.length === 0 && report.written + report.skipped > 0
      ? EXIT.done
      : EXIT.gaps;
  });
}

function describe(report: FileExportReport, folder: string, elapsedMs: number): string[] {
  const { written, skipped, records, bytes, incomplete } = report;
  if (written + skipped + incomplete.length === 0)
    return ['Nothing to export: no day is closed there, or `daywalk run` has exported none yet.'];
  const rate = elapsedMs === 0 ? 0 : (bytes / elapsedMs) * 1000;
  return [
    ...shortened(describeIncomplete(incomplete), MOST_LINES, `${MANIFEST} has all`),
    `${counted(written, 'day')} written: ${counted(records, 'record')}, ${formatBytes(bytes)} in ${formatDuration(elapsedMs)} (${formatBytes(rate)}/s); ${formatCount(skipped)} already there; ${formatCount(incomplete.length)} left out.`,
    `${folder}/${MANIFEST} tells what each file holds and on what proof; sha256sum --check SHA256SUMS proves the files.`,
  ];
}

/** A line for each unbroken span of days that are left out for the same reason. */
function describeIncomplete(incomplete: readonly IncompleteDay[]): string[] {
  const text = ({ stream, state, reason, earlierFile }: IncompleteDay, days = '') =>
    `not exported: ${stream} ${days} ${state}${reason === null ? '' : `: ${reason}`}${earlierFile === null ? '' : ' (a file of an earlier export stays)'}`;
  return spansOf(incomplete, (day) => text(day)).map((span) => {
    const { stream, reason } = span.newest;
    const command = reason === BEFORE_FIRST ? `; ${fillCommand(stream, span.from, span.to)}` : '';
    return `${text(span.newest, spanText(span))}${command}`;
  });
}
