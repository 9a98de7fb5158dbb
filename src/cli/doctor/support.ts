/** Until when versions of Node.js and PostgreSQL get security fixes; pure. */

/** The last day of support by major version (https://nodejs.org/en/about/previous-releases). */
const NODE: ReadonlyMap<number, string> = new Map([
  [20, '2026-04-30'],
  [21, '2024-06-01'],
  [22, '2027-04-30'],
  [23, '2025-06-01'],
  [24, '2028-04-30'],
  [25, '2026-06-01'],
  [26, '2029-04-30'],
]);
/** https://www.postgresql.org/support/versioning/ */
const POSTGRES: ReadonlyMap<number, string> = new Map([
  [14, '2026-11-12'],
  [15, '2027-11-11'],
  [16, '2028-11-09'],
  [17, '2029-11-08'],
  [18, '2030-11-14'],
]);

/**
 * The day on which the support of this version ended; null where it has not, or where the version is newer than this list.
 * @param version such as `20.19.4`, or `15.8`.
 * @param today YYYY-MM-DD
 */
export function supportEnded(of: 'node' | 'postgres', version: string, today: string) {
  const last = (of === 'node' ? NODE : POSTGRES).get(Number.parseInt(version, 10));
  return last !== undefined && last < today ? last : null;
}
