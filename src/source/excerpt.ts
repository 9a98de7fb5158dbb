/** What may be shown of text that came from outside: short, one line, and never a secret; pure. */

/** Stands for a secret; it tells neither its length nor its kind. */
const MARK = '***';
/** How much of a body is looked at; an excerpt never needs more. */
const LOOKED_AT = 8192;
/** Characters that one character of a secret can take up. */
const LONGEST_SPELLING = 8;

/**
 * A short, printable piece from the beginning of `content`.
 * Control, formatting and line-separating characters become spaces, so that nothing can forge a log line or steer a
 * terminal; secrets become `***`.
 * @param max longest result, in characters.
 */
export function excerpt(
  content: string | Uint8Array,
  secrets: readonly string[],
  max = 200,
): string {
  const head = content.slice(0, LOOKED_AT);
  const text = typeof head === 'string' ? head : Buffer.from(head).toString('utf8');
  let clean = redact(printable(text), secrets);
  if (content.length > LOOKED_AT) {
    // The cut may have gone through a secret: what could be the first part of one goes as well.
    const longest = Math.max(0, ...secrets.map((secret) => secret.length * LONGEST_SPELLING));
    clean = clean.slice(0, Math.max(0, clean.length - longest));
  }
  return clean.length <= max ? clean : `${clean.slice(0, max - 1)}…`;
}

/** One line of visible characters: each run of white space, control and formatting characters becomes one space. */
function printable(text: string): string {
  return text.replace(/[\p{C}\p{Z}\s]+/gu, ' ').trim();
}

/**
 * Replaces every secret, in any letter case and in the spellings that servers echo (JSON, URL, HTML, base64).
 * Returns an empty text where a secret would still be left, which only takes a secret made of stars.
 */
export function redact(text: string, secrets: readonly string[]): string {
  const known = secrets.filter((secret) => secret !== '');
  if (known.length === 0) return text;
  const forms = [...new Set(known.flatMap(formsOf))].sort((a, b) => b.length - a.length);
  const pattern = new RegExp(forms.join('|'), 'giu');
  const clean = text.replace(pattern, MARK);
  return known.some((secret) => clean.toLowerCase().includes(secret.toLowerCase())) ? '' : clean;
}

/** Patterns for a secret as other programs write it: character by character, in any mix of spellings, or base64. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret, 'utf8');
  return [
    Array.from(secret, spellings).join(''),
    literal(bytes.toString('base64').replace(/=+$/, '')),
    literal(bytes.toString('base64url')),
  ];
}

/** A pattern for one character: as it is, escaped in JSON or PHP's JSON, as `\\u`, percent-encoded, as an HTML entity. */
function spellings(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const hex = code.toString(16);
  const written = [
    character,
    JSON.stringify(character).slice(1, -1),
    `\\${character}`,
    `\\u${hex.padStart(4, '0')}`,
    Array.from(Buffer.from(character, 'utf8'), (b) => `%${b.toString(16).padStart(2, '0')}`).join(
      '',
    ),
    `&#${code};`,
    `&#x${hex};`,
    HTML_ENTITIES[character] ?? character,
  ];
  return `(?:${[...new Set(written)].map(literal).join('|')})`;
}

const HTML_ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#039;',
};

/** A regular expression that matches exactly `text`. */
function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
