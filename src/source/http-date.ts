/** Reads the three forms of an HTTP-date (RFC 9110 5.6.7) strictly; `Date.parse` takes almost anything for a date. */

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const TIME = '(?<hour>\\d\\d):(?<minute>\\d\\d):(?<second>\\d\\d)';
const FORMS = [
  // Sun, 06 Nov 1994 08:49:37 GMT
  `[A-Z][a-z]{2}, (?<day>\\d\\d) (?<month>[A-Z][a-z]{2}) (?<year>\\d{4}) ${TIME} GMT`,
  // Sunday, 06-Nov-94 08:49:37 GMT
  `[A-Z][a-z]{5,8}, (?<day>\\d\\d)-(?<month>[A-Z][a-z]{2})-(?<year>\\d\\d) ${TIME} GMT`,
  // Sun Nov  6 08:49:37 1994
  `[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \\d]\\d) ${TIME} (?<year>\\d{4})`,
].map((form) => new RegExp(`^${form}$`));

/**
 * @param nowMs decides the century of a two-digit year: one that seems more than 50 years ahead is past.
 * @returns milliseconds since the epoch; undefined where `text` is not an HTTP-date.
 */
export function httpDateMs(text: string, nowMs: number): number | undefined {
  const parts = FORMS.map((form) => form.exec(text)?.groups).find((groups) => groups !== undefined);
  if (parts === undefined) return undefined;
  const month = MONTHS.indexOf(parts.month ?? '');
  const day = Number(parts.day);
  const [hour, minute, second] = [parts.hour, parts.minute, parts.second].map(Number);
  if (month < 0 || day < 1 || day > 31) return undefined;
  if (hour === undefined || minute === undefined || second === undefined) return undefined;
  if (hour > 23 || minute > 59 || second > 60) return undefined;
  let year = Number(parts.year);
  if (parts.year?.length === 2) {
    const thisYear = new Date(nowMs).getUTCFullYear();
    year += thisYear - (thisYear % 100);
    if (year > thisYear + 50) year -= 100;
  }
  return Date.UTC(year, month, day, hour, minute, second);
}
