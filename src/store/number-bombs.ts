/** Numbers that `jsonb` takes in a few bytes and writes out in thousands: found without reading the body as JSON. */

/** The end of a number with an exponent of two digits or more, with what may stand behind it. */
const EXPONENT = /[0-9.][eE][+-]?0*[1-9][0-9]+(?=[\],} \t\r\n]|$)/g;
/** The beginning of such a number, up to that end, with what may stand before it. */
const BEGINNING = /(?:^|[:,[ \t\r\n])-?[0-9.]*$/;
/** No number that `jsonb` takes has more characters before its exponent that matter here. */
const MOST_DIGITS = 1_000;

/**
 * Whether the body may hold a number with an exponent of two digits or more, so that its text in Postgres may be many
 * times as long: then `sanitise` has to look closer. It may say yes for text inside of a string, and never no for a
 * number: with one digit in the exponent a body grows to three times its length at most, which no limit of Postgres
 * minds (FAULTS B15: `1e131071` 8,201 times stops `pg_dump`). Identifiers are full of digits around an e, so what stands
 * before and behind is looked at too.
 */
export function mayExpand(body: Buffer): boolean {
  const text = body.toString('latin1');
  EXPONENT.lastIndex = 0;
  for (let found = EXPONENT.exec(text); found !== null; found = EXPONENT.exec(text)) {
    const before = text.slice(Math.max(0, found.index - MOST_DIGITS), found.index + 1);
    if ((found.index >= MOST_DIGITS && /^[0-9.]+$/.test(before)) || BEGINNING.test(before))
      return true;
  }
  return false;
}
