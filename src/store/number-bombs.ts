/** Numbers that `jsonb` takes in a few bytes and writes out in thousands: found without reading the body as JSON. */

const PLUS = 0x2b;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const SPACE = 0x20;
const LOWER_E = 0x65;

const isDigit = (byte: number | undefined): boolean =>
  byte !== undefined && byte >= ZERO && byte <= 0x39;

/** What may stand before a number in JSON. */
const BEFORE = new Set(Buffer.from(':,[- \t\r\n'));

/**
 * Whether the body may hold a number with an exponent of two digits or more, so that its text in Postgres may be many
 * times as long: then `sanitise` has to look closer. It may say yes for text inside of a string, and never no for a
 * number: with one digit in the exponent a body grows to three times its length at most, which no limit of Postgres
 * minds (FAULTS B15: `1e131071` 8,201 times stops `pg_dump`).
 */
export function mayExpand(body: Uint8Array): boolean {
  for (let at = 1; at < body.length; at += 1)
    if (((body[at] as number) | SPACE) === LOWER_E && isDigit(body[at - 1]) && expands(body, at))
      return true;
  return false;
}

/** Whether the `e` at `at` stands in something like a number, before an exponent of two digits or more. */
function expands(body: Uint8Array, at: number): boolean {
  let exponent = at + 1;
  if (body[exponent] === PLUS || body[exponent] === MINUS) exponent += 1;
  while (body[exponent] === ZERO) exponent += 1;
  if (!isDigit(body[exponent]) || !isDigit(body[exponent + 1])) return false;
  let before = at - 1;
  while (before >= 0 && (isDigit(body[before]) || body[before] === POINT)) before -= 1;
  return before < 0 || BEFORE.has(body[before] as number);
}
