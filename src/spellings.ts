/** Where secrets stand in a text, in whatever spelling: as they are, escaped, in base64, in hexadecimal digits; pure. */

/** A shorter secret would strike half of every line out. */
const SHORTEST = 4;
/** JSON in a string of JSON in a URL, and one more. */
const MOST_LAYERS = 4;

/** From where to where. */
export type TextSpan = [from: number, to: number];

/** Where secrets are in `text`, in order, none over another: looked for in it, and in what it says once escapes are undone. */
export function secretSpans(text: string, secrets: readonly string[]): TextSpan[] {
  const forms = formsOf(secrets);
  const found: TextSpan[] = [];
  let view: View | null = { text, at: (index) => index, end: (index) => index };
  for (let layer = 0; view !== null && layer <= MOST_LAYERS; layer++) {
    const plain = inLowerCase(view.text);
    const alike = ofOneAlphabet(plain);
    for (const { text: form, base64 } of forms) {
      const among = base64 ? alike : plain;
      for (let at = among.indexOf(form); at >= 0; at = among.indexOf(form, at + 1)) {
        const [from, to] = base64
          ? withNeighbours(among, at, at + form.length)
          : [at, at + form.length];
        found.push([view.at(from), view.end(to)]);
      }
    }
    view = withoutEscapes(view);
  }
  const spans: TextSpan[] = [];
  for (const span of found.sort((a, b) => a[0] - b[0] || a[1] - b[1])) {
    const last = spans.at(-1);
    if (last !== undefined && span[0] < last[1]) last[1] = Math.max(last[1], span[1]);
    else spans.push(span);
  }
  return spans;
}

/** A text to be looked for, in lower case. */
interface Form {
  readonly text: string;
  readonly base64: boolean;
}

/** Secrets as they are, in base64 and in hexadecimal digits, and so in UTF-16, where the bytes without the last NUL are in either order. */
const formsOf = remembering((secrets): readonly Form[] =>
  secrets
    .filter((secret) => secret.length >= SHORTEST)
    .flatMap((secret) => {
      const bytes = [Buffer.from(secret), Buffer.from(secret, 'utf16le').subarray(0, -1)];
      const plain = [secret, secret.replaceAll(' ', '+'), ...bytes.flatMap(hexadecimalOf)];
      const base64 = bytes.flatMap(base64Of).map(ofOneAlphabet);
      return [
        ...plain.map((text) => ({ text: inLowerCase(text), base64: false })),
        ...base64.map((text) => ({ text: inLowerCase(text), base64: true })),
      ];
    }),
);

/** As dumps, certificates and addresses are written. */
function hexadecimalOf(bytes: Buffer): string[] {
  const pairs = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'));
  return ['', ':', ' ', '-'].map((between) => pairs.join(between));
}

/** Only what keeps its length. */
function inLowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (capitals) => capitals.toLowerCase());
}

/** Base64url has other characters for two of the values. */
function ofOneAlphabet(text: string): string {
  return text.replaceAll('-', '+').replaceAll('_', '/');
}

/** Base64 of bytes that stand anywhere in others, such as a key behind a name: what does not depend on those around. */
export function base64Of(bytes: Buffer): string[] {
  return [0, 1, 2].map((before) =>
    Buffer.concat([Buffer.alloc(before), bytes])
      .toString('base64')
      .slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6)),
  );
}

/** A character of base64 before and after may have some bits as well; the padding says how long it is. */
function withNeighbours(text: string, from: number, to: number): TextSpan {
  const after = /[\w+/]?={0,2}/y;
  after.lastIndex = to;
  const before = /[\w+/]/.test(text[from - 1] ?? '') ? 1 : 0;
  return [from - before, to + (after.exec(text)?.[0].length ?? 0)];
}

/** Text with some of its escapes undone; `at` and `end` tell where a character begins and ends in the text that was given. */
interface View {
  readonly text: string;
  readonly at: (index: number) => number;
  readonly end: (index: number) => number;
}

const NAMED: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", sol: '/', bsol: '\\', plus: '+' },
  ...{ equals: '=', colon: ':', semi: ';', period: '.', comma: ',', lowbar: '_', num: '#' },
  ...{ dollar: '$', percnt: '%', excl: '!', quest: '?', commat: '@', ast: '*', lpar: '(' },
  ...{ rpar: ')', lsqb: '[', rsqb: ']', lcub: '{', rcub: '}', vert: '|', grave: '`', hat: '^' },
};
/** Escapes of JSON and of programming languages, of URLs, of HTML; and what is no letter of anything: NULs, line ends, marks. */
const ESCAPE = new RegExp(
  [
    '\\\\{1,8}(?:u(?<unit>[\\da-f]{4})|x(?<byte>[\\da-f]{2}))',
    '(?<percent>(?:%[\\da-f]{2})+)',
    '&#(?:0*(?<decimal>\\d{1,7})|x0*(?<hexadecimal>[\\da-f]{1,6}));?',
    `&(?<name>${Object.keys(NAMED).join('|')});`,
    '\\\\(?<punctuation>[!-/:-@[-`{-~])',
    '\\\\[abfnrtv0]|[\\p{Cc}\\p{Cf}]+',
  ].join('|'),
  'giu',
);

/** Undoes one layer of escapes; null: there is none. */
function withoutEscapes(view: View): View | null {
  let text = '';
  const starts: number[] = [];
  const ends: number[] = [];
  let done = 0;
  const copy = (to: number): void => {
    text += view.text.slice(done, to);
    for (; done < to; done++) {
      starts.push(view.at(done));
      ends.push(view.end(done + 1));
    }
  };
  for (const match of view.text.matchAll(ESCAPE)) {
    const to = match.index + match[0].length;
    copy(match.index);
    const meant = meaningOf(match.groups ?? {});
    // Of a run of bytes each is a character of its own, if all are ASCII.
    const step = match[0].length === 3 * meant.length ? 3 : 0;
    for (let i = 0; i < meant.length; i++) {
      starts.push(view.at(match.index + i * step));
      ends.push(view.end(step === 0 ? to : match.index + (i + 1) * step));
    }
    text += meant;
    done = to;
  }
  if (text === '' && done === 0) return null;
  copy(view.text.length);
  return { text, at: (index) => starts[index] ?? 0, end: (index) => ends[index - 1] ?? 0 };
}

function meaningOf(found: Readonly<Record<string, string | undefined>>): string {
  const { unit, byte, percent, decimal, hexadecimal, name, punctuation } = found;
  if (percent !== undefined) return Buffer.from(percent.replaceAll('%', ''), 'hex').toString();
  if (name !== undefined) return NAMED[name.toLowerCase()] ?? '';
  if (punctuation !== undefined) return punctuation;
  const code = unit ?? byte ?? hexadecimal;
  const number = code === undefined ? Number(decimal) : Number.parseInt(code, 16);
  // U+0000 is dropped like the character itself, and so is what is none.
  return number > 0 && number <= 0x10ffff ? String.fromCodePoint(number) : '';
}

/** Works it out once for each list of secrets. */
export function remembering<T>(
  make: (secrets: readonly string[]) => T,
): (secrets: readonly string[]) => T {
  const known = new WeakMap<readonly string[], { readonly made: T }>();
  return (secrets) => {
    const before = known.get(secrets);
    if (before !== undefined) return before.made;
    const made = make(secrets);
    known.set(secrets, { made });
    return made;
  };
}
