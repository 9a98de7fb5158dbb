/** Numbers that `jsonb` takes in a few bytes and writes out in thousands: found without reading the body as JSON. */

/** An exponent of two digits or more, with the character before it and what may stand behind it; or one that is cut off. */
const EXPONENT = /[0-9.][eE][+-]?(?:0*[1-9][0-9]+(?=[\],} \t\r\n]|$)|[0-9]{30,}$)/g;
/** The beginning of such a number, up to that end, with what may stand before it. */
const BEGINNING = /(?:^|[:,[ \t\r\n])-?[0-9.]*$/;
/** No number that `jsonb` takes has more characters before its exponent that matter here. */
const MOST_DIGITS = 1_000;
/** So much behind an exponent's beginning is looked at: one that goes on there is suspicious, whatever its digits are. */
const MOST_EXPONENT = 40;
/** So many bytes are looked at as one text: a text of a whole page would cost more in garbage than in looking. */
const PIECE = 64 * 1024;

/**
 * Whether the body may hold a number with an exponent of two digits or more, so that its text in Postgres may be many
 * times as long: then `sanitise` has to look closer. It may say yes for text inside of a string, and never no for a
 * number: with one digit in the exponent a body grows to three times its length at most, which no limit of Postgres
 * minds (FAULTS B15: `1e131071` 8,201 times stops `pg_dump`). Identifiers are full of digits around an e, so what stands
 * before and behind is looked at too.
 */
export function mayExpand(body: Buffer): boolean {
  for (let from = 0; from < body.length; from += PIECE)
    if (mayExpandIn(body, from, from + PIECE)) return true;
  return false;
}

/** As {@link mayExpand}, of the numbers whose exponent begins between two places. */
function mayExpandIn(body: Buffer, from: number, to: number): boolean {
  const start = Math.max(0, from - MOST_DIGITS);
  const text = body.toString('latin1', start, Math.min(body.length, to + MOST_EXPONENT));
  EXPONENT.lastIndex = from - start;
  for (
    let found = EXPONENT.exec(text);
    found !== null && start + found.index < to;
    found = EXPONENT.exec(text)
  ) {
    const before = text.slice(Math.max(0, found.index - MOST_DIGITS), found.index + 1);
    if ((found.index >= MOST_DIGITS && /^[0-9.]+$/.test(before)) || BEGINNING.test(before))
      return true;
  }
  return false;
}
