/** The redactor: strikes secrets out of text, in the spellings that a header or a body can carry, and finds keys in bodies. */
import { base64Of, remembering, secretSpans } from './spellings.ts';
import { clip, oneLine } from './text.ts';

/** The secrets of a process; who shows text asks it each time, so that a key that was read again is struck out at once. */
export interface Redactor {
  /** These are struck out from now on; those before stay. */
  add(...secrets: readonly string[]): void;
  /** These are worth nothing any more. */
  forget(...secrets: readonly string[]): void;
  readonly secrets: () => readonly string[];
  readonly redact: (text: string) => string;
}

/** Stands for a secret; it tells neither its length nor its kind. */
const MARK = '***';
/** A shorter key stands in bodies by chance, and so does a shorter part of one in any text. */
const SHORTEST_IN_BODY = 8;
/** How much of a body is looked at for an excerpt, besides what a secret may take that is cut through. */
const LOOKED_AT = 8192;
/** Characters that one character of a secret takes up at most: in UTF-16, each half as an escape of JSON. */
const LONGEST_SPELLING = 14;

/** Makes a redactor that knows `first`. */
export function openRedactor(first: readonly string[] = []): Redactor {
  let known = first;
  return {
    add(...secrets) {
      const news = secrets.filter((secret) => !known.includes(secret));
      if (news.length > 0) known = [...known, ...news];
    },
    forget(...secrets) {
      known = known.filter((secret) => !secrets.includes(secret));
    },
    secrets: () => known,
    redact: (text) => redact(text, known),
  };
}

/** `text` with a mark in place of every secret. */
export function redact(text: string, secrets: readonly string[]): string {
  const spans = secretSpans(text, secrets);
  if (spans.length === 0) return text;
  let clean = '';
  let at = 0;
  for (const [from, to] of spans) {
    clean += text.slice(at, from) + MARK;
    at = to;
  }
  clean += text.slice(at);
  // Only a secret that the mark is a part of can still be there.
  return secretSpans(clean, secrets).length === 0 ? clean : MARK;
}

/** Redacts the strings and numbers of JSON text one by one, so that it stays JSON whatever the secret is. */
export function redactJson(text: string, redact: (text: string) => string): string {
  return text.replace(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (token) => {
    const plain: string = token.startsWith('"') ? JSON.parse(token) : token;
    const clean = redact(plain);
    return clean === plain ? token : JSON.stringify(clean);
  });
}

/**
 * What may be shown of text that came from outside: its beginning, as one printable line without secrets.
 * @param max longest result, in characters.
 */
export function excerpt(
  content: string | Uint8Array,
  secrets: readonly string[],
  max = 200,
): string {
  const longest = Math.max(0, ...secrets.map((secret) => secret.length * LONGEST_SPELLING));
  const head = content.slice(0, LOOKED_AT + longest);
  const text = typeof head === 'string' ? head : Buffer.from(head).toString('utf8');
  // A secret with a space in it may be spelled by one line where several did not.
  let clean = redact(oneLine(redact(text, secrets)), secrets);
  // The cut may have gone through a secret: what could be the first part of one goes as well.
  if (content.length > head.length) clean = clean.slice(0, Math.max(0, clean.length - longest));
  return clip(withoutBegun(clean, secrets), max);
}

/** Text of which the sender may have been cut off within a secret, without what came of that. */
function withoutBegun(text: string, secrets: readonly string[]): string {
  for (const secret of secrets)
    for (let length = secret.length - 1; length >= SHORTEST_IN_BODY; length--)
      if (text.endsWith(secret.slice(0, length))) return text.slice(0, -length) + MARK;
  return text;
}

/** Whether a body holds one of the keys: as it is, with some of its characters escaped or all, in base64 or hexadecimal. */
export function holdsSecret(body: Buffer, keys: readonly string[]): boolean {
  // No JSON in UTF-8 has a NUL, and in UTF-16 every character of a key does.
  const bytes = body.includes(0) ? Buffer.from(body.filter((byte) => byte !== 0)) : body;
  return anyIsHeld(bytes, searchFor(keys));
}

/** What every spelling of some kind has in it, unescaped; finding it is much cheaper than taking all escapes off a body. */
interface Anchor {
  readonly bytes: Buffer;
  readonly keys: readonly [key: string];
}

const anchorsOf = remembering((keys): readonly Anchor[] =>
  keys
    .filter((key) => key.length >= SHORTEST_IN_BODY)
    .flatMap((key) => {
      const codes = Array.from(Buffer.from(key), (byte) => byte.toString(16).padStart(2, '0'));
      const capitals = codes.map((code) => code.toUpperCase());
      const parts = [key, ...base64Of(Buffer.from(key))].map(longestWord);
      const escaped = [codes, capitals].flatMap((all) => [
        all.join(''),
        `%${all.join('%')}`,
        // In a string of JSON within JSON there are several backslashes; they are rarer than what follows, and found sooner.
        `\\u00${all[0]}\\`,
      ]);
      return [...new Set([...parts, ...escaped])].map((text) => ({
        bytes: Buffer.from(text),
        keys: [key] as const,
      }));
    }),
);

/** Letters and digits are what nobody escapes, unless all is escaped; the whole where there are few. */
function longestWord(text: string): string {
  const [longest = ''] = (text.match(/[a-z\d]+/gi) ?? []).sort((a, b) => b.length - a.length);
  return longest.length >= 6 ? longest : text;
}

/** All anchors are looked for in one pass, which takes a third of what one for each of them does: by Wu and Manber, "A fast algorithm for multi-pattern searching" (1994). */
interface Search {
  /** As long as the shortest anchor; of longer ones only the beginning is looked for. */
  readonly window: number;
  /** By the last two bytes of a window: how far the next one is that an anchor may begin with. */
  readonly shifts: Uint8Array;
  /** The anchors that begin with a window with these last two bytes. */
  readonly endingIn: ReadonlyMap<number, readonly Anchor[]>;
}

const searchFor = remembering((keys): Search => {
  const anchors = anchorsOf(keys);
  const window = Math.min(...anchors.map(({ bytes }) => bytes.length));
  const shifts = new Uint8Array(0x10000).fill(window - 1);
  const endingIn = new Map<number, Anchor[]>();
  for (const anchor of anchors) {
    for (let at = 1; at < window; at += 1) {
      const pair = anchor.bytes.readUInt16BE(at - 1);
      shifts[pair] = Math.min(shifts[pair] as number, window - 1 - at);
    }
    const last = anchor.bytes.readUInt16BE(window - 2);
    endingIn.set(last, [...(endingIn.get(last) ?? []), anchor]);
  }
  return { window, shifts, endingIn };
});

function anyIsHeld(body: Buffer, { window, shifts, endingIn }: Search): boolean {
  // Near places are looked at together, so that no body makes it slow.
  const lookedTo = new Map<Anchor, number>();
  for (let at = window - 1; at < body.length; ) {
    const pair = ((body[at - 1] as number) << 8) | (body[at] as number);
    const shift = shifts[pair] as number;
    if (shift === 0)
      for (const anchor of endingIn.get(pair) ?? []) {
        const from = at - window + 1;
        if (from < (lookedTo.get(anchor) ?? 0) || !beginsAt(body, from, anchor.bytes)) continue;
        const reach = anchor.keys[0].length * LONGEST_SPELLING;
        const near = body.toString('latin1', Math.max(0, from - reach), from + 4 * reach);
        if (secretSpans(near, anchor.keys).length > 0) return true;
        lookedTo.set(anchor, from + 3 * reach);
      }
    at += Math.max(1, shift);
  }
  return false;
}

const beginsAt = (body: Buffer, from: number, bytes: Buffer): boolean =>
  body[from] === bytes[0] && body.subarray(from, from + bytes.length).equals(bytes);
