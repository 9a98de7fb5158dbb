/** How many values a body holds, counted before anything parses it; pure. */

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
/** This bit makes a curly bracket of a square one. */
const CURLY = 0x20;
const OPEN = 0x7b;
const CLOSE = 0x7d;

/** How many values a body holds, and how many of them are objects and lists. */
export function countValues(body: Buffer): { values: number; containers: number } {
  let values = 1;
  let containers = 0;
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at] as number;
    if (byte === QUOTE) at = endOfString(body, at);
    else if (byte === COMMA) values += 1;
    else if ((byte | CURLY) === OPEN) {
      containers += 1;
      if (((body[at + 1] ?? 0) | CURLY) !== CLOSE) values += 1;
    }
  }
  return { values, containers };
}

/** Where the string that begins at `from` has its closing quote, or the end of the body. */
function endOfString(body: Buffer, from: number): number {
  let at = from + 1;
  while (at < body.length && body[at] !== QUOTE) at += body[at] === BACKSLASH ? 2 : 1;
  return at;
}
