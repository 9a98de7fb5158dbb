/** Foreign text on one line: what could steer a terminal, hide text in it or break a line is taken out. */

/** Controls (terminal sequences begin with one), line and direction marks. */
const UNSAFE = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu;

/** The text with a space in place of each run of unsafe characters. */
export function printable(text: string): string {
  return text.replace(UNSAFE, ' ').trim();
}
