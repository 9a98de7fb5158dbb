/** JSON as trees that keep every digit, for tests: how they are written, and whether a text stands in one, found without Postgres. */
import fc from 'fast-check';

/** A value; numbers as they are spelled. */
export type Tree =
  | { readonly kind: 'string'; readonly text: string; readonly escaped: boolean }
  | { readonly kind: 'number' | 'literal'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly Tree[] }
  | { readonly kind: 'object'; readonly entries: readonly (readonly [string, Tree])[] };

/** As JSON. */
export function written(tree: Tree): string {
  switch (tree.kind) {
    case 'string':
      return tree.escaped ? `"${escapedAll(tree.text)}"` : JSON.stringify(tree.text);
    case 'list':
      return `[${tree.items.map(written).join(', ')}]`;
    case 'object':
      return `{${tree.entries.map(([key, value]) => `${JSON.stringify(key)}: ${written(value)}`).join(', ')}}`;
    default:
      return tree.text;
  }
}

const escapedAll = (text: string): string =>
  Array.from({ length: text.length }, (_, at) => text.charCodeAt(at))
    .map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`)
    .join('');

/** A number by its value: sign, digits, power of ten; null: the text is no number of JSON. */
export function numberOf(text: string): string | null {
  const found = /^(-?)(0|[1-9]\d*)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text);
  if (found === null) return null;
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = found;
  const digits = (whole + fraction).replace(/^0+/, '');
  const kept = digits.replace(/0+$/, '');
  if (kept === '') return '0';
  const power = Number(exponent) - fraction.length + digits.length - kept.length;
  return `${sign}${kept}e${power}`;
}

/** Whether a scalar in the tree is what the text says. */
export function holds(tree: Tree, value: string): boolean {
  switch (tree.kind) {
    case 'string':
      return tree.text === value;
    case 'number':
      return numberOf(value) !== null && numberOf(tree.text) === numberOf(value);
    case 'literal':
      return tree.text !== 'null' && tree.text === value;
    case 'list':
      return tree.items.some((item) => holds(item, value));
    case 'object':
      return tree.entries.some(([, item]) => holds(item, value));
  }
}

const DIGITS = `7${'1234567890'.repeat(39)}123456789`;
/** Texts that are easily mixed up, by a filter, a collation, a parser or a person. */
export const STRINGS = [
  '5',
  '5.0',
  ' 5',
  'true',
  'null',
  'a',
  'A',
  'é',
  'e\u0301',
  '203.0.113.7',
  'a"b\\c',
  'line\nbreak\ttab',
  '\u2028',
  '\ufffd',
  '😀',
  'Straße',
  'STRASSE',
  'x'.repeat(5_000),
  `${'x'.repeat(4_999)}y`,
  DIGITS,
  '',
];
/** Numbers that a double, a filter or a spelling mixes up. */
export const NUMBERS = [
  '5',
  '5.0',
  '5.00',
  '5e0',
  '50E-1',
  '-5',
  '0',
  '-0',
  '0.0',
  '18446744073709551615',
  '18446744073709551616',
  '9007199254740992',
  '9007199254740993',
  '0.1',
  '0.10',
  '0.1000000000000000055511151231257827',
  '1e400',
  '10e399',
  '1E-300',
  DIGITS,
  `${DIGITS.slice(0, -1)}8`,
];

const scalar: fc.Arbitrary<Tree> = fc.oneof(
  fc.record({
    kind: fc.constant('string' as const),
    text: fc.oneof(fc.constantFrom(...STRINGS), fc.string({ unit: 'grapheme', maxLength: 6 })),
    escaped: fc.boolean(),
  }),
  fc.constantFrom(...NUMBERS).map((text) => ({ kind: 'number', text }) as const),
  fc.constantFrom('true', 'false', 'null').map((text) => ({ kind: 'literal', text }) as const),
);

/** Any tree; keys are drawn from the texts that are values elsewhere. */
export const anyTree: fc.Arbitrary<Tree> = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    scalar,
    fc.array(tie('tree'), { maxLength: 4 }).map((items) => ({ kind: 'list', items }) as const),
    fc
      .uniqueArray(fc.tuple(fc.constantFrom(...STRINGS, 'key'), tie('tree')), {
        maxLength: 4,
        selector: ([key]) => key,
      })
      .map((entries) => ({ kind: 'object', entries }) as const),
  ),
})).tree;

/** What may be asked in order to find the scalars of a tree: strings as they are, numbers spelled in another way. */
export function respelled(tree: Tree): string[] {
  switch (tree.kind) {
    case 'string':
      return tree.text === '' ? [] : [tree.text];
    case 'number':
      return [
        /[eE]/.test(tree.text) ? tree.text : `${tree.text}${tree.text.includes('.') ? '' : '.'}00`,
      ];
    case 'literal':
      return [tree.text];
    case 'list':
      return tree.items.flatMap(respelled);
    case 'object':
      return tree.entries.flatMap(([, item]) => respelled(item));
  }
}
