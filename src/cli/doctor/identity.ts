/** What the doctor finds of identities: whether a field belongs to the record, and not to the answer in which it stands. */
import type { Stream } from '../../model.ts';
import { formatJsonPath } from '../../settings/values/paths.ts';
import { hasEverywhere, identifies, identityPaths, othersAt } from '../../source/identity.ts';
import { type Path, valueAt } from '../../source/json.ts';
import { orNull } from '../../walk/failures.ts';
import { spelled } from '../../walk/rules/places.ts';
import { tellsItself } from '../../walk/rules/volatile.ts';
import type { Examination } from './examination.ts';

/** Fewer records suggest nothing: any field may differ in them. */
const LEAST_RECORDS = 10;

/** Records of one day. */
interface Shown {
  /** Those of its first page. */
  readonly records: readonly unknown[];
  /** Those of its first hour and of its last one. */
  readonly edges: readonly unknown[];
}

/**
 * Whether records are identified, as far as those of one day tell. The second half of its first page is asked for by itself:
 * what identifies a record is the same in both answers.
 * @param ask for records of that day, from a start on.
 */
export async function examineIdentity(
  { name, idPath }: Stream,
  shown: Shown,
  { identities, ok, warn }: Examination,
  ask: (start: number, length: number) => Promise<readonly unknown[]>,
): Promise<void> {
  const { records } = shown;
  const check = `identity ${name}`;
  if (idPath !== undefined && !hasEverywhere(idPath, records)) {
    const found = `some of ${records.length} records have nothing at ${formatJsonPath(idPath)}`;
    warn(check, found, 'Those count by their content. Is id_path right?');
    return;
  }
  const paths = idPath ? [idPath] : identityPaths(records);
  const [likeliest] = paths;
  if (likeliest === undefined) return;
  const half = Math.floor(records.length / 2);
  const again = (await orNull(ask(half, Math.max(1, half)))) ?? [];
  const changed = (path: Path) => othersAt(path, again, records.slice(half));
  if (idPath !== undefined) {
    if (again.length === 0 || changed(idPath) < again.length) return;
    const found = `${formatJsonPath(idPath)} is another one for the same records when they are asked for from another start`;
    const remedy =
      'Take id_path out: it makes different records look like versions of one, and hides them.';
    warn(check, found, remedy);
    return;
  }
  const isKept = (path: Path) => again.length > 0 && changed(path) === 0;
  const path = paths.find((each) => isKept(each) && isOfRecords(each, shown));
  if (path === undefined || (records.length < LEAST_RECORDS && path !== likeliest)) {
    identities.set(name, null);
    const found = `${formatJsonPath(likeliest)} may number the rows of an answer, or be made anew for each`;
    ok(check, found, 'No id_path is suggested: a wrong one hides records.');
  } else if (records.length >= LEAST_RECORDS) {
    identities.set(name, path);
    const spelled = formatJsonPath(path);
    ok(
      check,
      `${spelled} is in each of ${records.length} records, and different in each`,
      `Set id_path: ${spelled} if it identifies an event for good: a changed one is shown once then, not twice.`,
    );
  }
}

/** Whether it is no number of the row, and no two records of a day have it, an event that goes on in both hours being one. */
function isOfRecords(path: Path, { records, edges }: Shown): boolean {
  const apart = new Map(edges.map((record) => [spelled(record), record]));
  const values = records.map((record) => valueAt(record, path));
  return identifies(path, [...apart.values()]) && !tellsItself([values]);
}
