/** Numbers that `jsonb` takes in a few bytes and writes out in thousands: found without reading the body as JSON. */

/** What may stand where, a bit each. */
const DIGIT = 1;
const DOT = 2;
const SIGN = 4;
const E = 8;
const BEFORE_NUMBER = 16;
const BEHIND_NUMBER = 32;
const IN_NUMBER = DIGIT | DOT | SIGN | E;
/** For each byte what it is; other bytes are nothing of it. */
const KINDS = kindsOf({
  '0123456789': DIGIT,
  '.': DOT,
  '+-': SIGN,
  eE: E,
  ':[': BEFORE_NUMBER,
  '}]': BEHIND_NUMBER,
  ', \t\r\n': BEFORE_NUMBER | BEHIND_NUMBER,
});
const ZERO = 0x30;
const MINUS = 0x2d;

/**
 * Whether the body may hold a number with an exponent of two digits or more, so that its text in Postgres may be many
 * times as long: then `sanitise` has to look closer. It may say yes for text inside of a string, and never no for a
 * number: with one digit in the exponent a body grows to three times its length at most, which no limit of Postgres
 * minds (FAULTS B15: `1e131071` 8,201 times stops `pg_dump`). Identifiers are full of digits around an e, so what stands
 * before and behind is looked at too. Bytes and not their text, because a text of every page would have to be collected.
 */
export function mayExpand(body: Buffer): boolean {
  // The shortest one, `1e10`, has four bytes, so that every fourth byte of the body meets each of them.
  for (let at = 3; at < body.length; at += 4) {
    if (!is(body, at, IN_NUMBER)) continue;
    const last = Math.min(at + 1, body.length - 3);
    for (let e = at - 2; e <= last; e++)
      if (is(body, e, E) && is(body, e - 1, DIGIT | DOT) && expands(body, e)) return true;
  }
  return false;
}

/** Whether a number is around this e, and two digits or more behind it, perhaps behind a sign and zeros. */
function expands(body: Buffer, e: number): boolean {
  let digits = is(body, e + 1, SIGN) ? e + 2 : e + 1;
  while (body[digits] === ZERO) digits += 1;
  let end = digits;
  while (end < body.length && is(body, end, DIGIT)) end += 1;
  if (end - digits < 2 || (end < body.length && !is(body, end, BEHIND_NUMBER))) return false;
  let start = e;
  while (start > 0 && is(body, start - 1, DIGIT | DOT)) start -= 1;
  if (start > 0 && body[start - 1] === MINUS) start -= 1;
  return start === 0 || is(body, start - 1, BEFORE_NUMBER);
}

/** Whether the byte there, which must be in the body, is one of these. */
const is = (body: Buffer, at: number, kinds: number): boolean =>
  ((KINDS[body[at] as number] as number) & kinds) !== 0;

function kindsOf(kinds: Readonly<Record<string, number>>): Uint8Array {
  const table = new Uint8Array(256);
  for (const [characters, kind] of Object.entries(kinds))
    for (const byte of Buffer.from(characters)) table[byte] = kind;
  return table;
}
