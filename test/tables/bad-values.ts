/** Values of every kind, good and bad, each with what it must be in a column of each type: known from how it was made, and not found out by reading it. */

/** Types of columns in which a value may be right; it is at fault in all others. */
type Type =
  | 'text'
  | 'boolean'
  | 'smallint'
  | 'integer'
  | 'bigint'
  | 'numeric'
  | 'timestamptz'
  | 'date'
  | 'inet'
  | 'uuid'
  | 'jsonb';

/** A value as JSON, and as what the types that it fits have it: times as microseconds since 1970, all else as Postgres writes it. */
export interface Given {
  readonly json: string;
  readonly fits: Partial<Record<Type, string>>;
}

/** The value and whether it is listed in daywalk.table_faults. */
export interface Cell {
  readonly value: string | null;
  readonly faulty: boolean;
}

/** No text that is longer fits a column with an index; bytes. */
const MOST_INDEXED = 2_500;

/** What a column must hold; undefined: the record does not have the field. */
export function cellOf(given: Given | undefined, type: Type, indexed: boolean): Cell {
  if (given === undefined || given.json === 'null') return { value: null, faulty: false };
  const value = given.fits[type];
  if (value === undefined || (indexed && Buffer.byteLength(value) > MOST_INDEXED))
    return { value: null, faulty: true };
  return { value, faulty: false };
}

const INTEGERS = { smallint: 15n, integer: 31n, bigint: 63n } as const;

/** What digits are as a number without a fraction, and as a time since 1970. */
function whole(digits: string): Given['fits'] {
  const number = BigInt(digits);
  const types = Object.entries(INTEGERS).filter(
    ([, bits]) => number >= -(2n ** bits) && number < 2n ** bits,
  );
  const length = /^[1-9]\d*$/.test(digits) ? digits.length : 0;
  const time = [9, 10].includes(length)
    ? number * 1_000_000n
    : [12, 13].includes(length)
      ? number * 1_000n
      : [15, 16].includes(length)
        ? number
        : [18, 19].includes(length)
          ? number / 1_000n
          : null;
  return {
    numeric: digits,
    ...Object.fromEntries(types.map(([type]) => [type, digits])),
    ...(['0', '1'].includes(digits) && { boolean: String(digits === '1') }),
    ...(time !== null && { timestamptz: String(time) }),
  };
}

/** A number with a fraction or an exponent; `plain` is how Postgres writes it. */
const fraction = (json: string, plain: string): Given => ({
  json,
  fits: { text: plain, numeric: plain, jsonb: plain },
});
const integer = (json: string, plain = json): Given => ({
  json,
  fits: { text: plain, jsonb: plain, ...whole(plain) },
});
const word = (text: string, fits: Given['fits'] = {}): Given => ({
  json: JSON.stringify(text),
  fits: { text, jsonb: JSON.stringify(text), ...fits },
});
/** An object or a list, as `jsonb` writes it. */
const tree = (json: string): Given => ({ json, fits: { jsonb: json } });
/** JSON that `jsonb` refuses and that is stored with a change. */
const changed = (json: string, text: string): Given => ({ json, fits: word(text).fits });

const zeros = (count: number): string => '0'.repeat(count);
const nines = (count: number): string => '9'.repeat(count);

/** What any field may hold. */
const SHELF: readonly Given[] = [
  { json: 'null', fits: {} },
  { json: 'true', fits: { boolean: 'true', text: 'true', jsonb: 'true' } },
  { json: 'false', fits: { boolean: 'false', text: 'false', jsonb: 'false' } },
  ...['{}', '[]', '[[[]]]', '[1, "x", null]', '{"a": {"b": [1.10]}}'].map(tree),
  ...['0', '1', '-1', '7', '32767', '32768', '-32768', '-32769', '2147483647', '2147483648'],
  ...['-2147483648', '-2147483649', '9223372036854775807', '9223372036854775808'],
  ...['-9223372036854775808', '-9223372036854775809', '18446744073709551615', nines(400)],
].map((given) => (typeof given === 'string' ? integer(given) : given));
const NUMBERS: readonly Given[] = [
  integer('-0', '0'),
  integer('1e5', '100000'),
  integer('5E+3', '5000'),
  integer('1e400', `1${zeros(400)}`),
  fraction('1.0', '1.0'),
  fraction('1.10', '1.10'),
  fraction('0.1', '0.1'),
  fraction('-1.50e1', '-15.0'),
  fraction('1e-7', '0.0000001'),
  fraction('1e-400', `0.${zeros(399)}1`),
  fraction(`${nines(400)}.${nines(400)}`, `${nines(400)}.${nines(400)}`),
];
const WORDS: readonly Given[] = [
  ...['', ' ', 'abc', 'null', 'nowhere', '٣', '12abc', '1,5', '--1', '1e', "'; drop table x; --"],
  ...[
    '"quoted" \\ back\tslash\n',
    '{"a": 1}',
    '[x',
    '分析-01 😀',
    '\u007f\u2028',
    '\\u0000',
    '\\ud800',
  ],
  ...['now', 'today', 'epoch', 'yesterday', '01/02/2026', '2026-02-30', '2026-02-30T10:00:00Z'],
  ...['Sun, 01 Mar 2026 10:20:30 GMT', '01/Mar/2026:10:20:30 +0100', '20260301T102030Z'],
  ...['0000-01-01', '2026-03-01T24:00:01Z', '2026-13-01T00:00:00Z', '1e200000', '1e-20000'],
  ...[
    '10.0.0.256',
    '10.0.0.1/33',
    ' 10.0.0.1',
    '2001:db8::g',
    '0b7c1f9e-5a53-4c2e-9d55-0123456789',
  ],
].map((text) => word(text));
const MEANT: readonly Given[] = [
  word('NaN', { numeric: 'NaN' }),
  word('nan', { numeric: 'NaN' }),
  word('Infinity', { numeric: 'Infinity' }),
  word('-inf', { numeric: '-Infinity' }),
  word('infinity', { numeric: 'Infinity' }),
  ...['t', 'yes', 'ON', 'True', ' true '].map((text) => word(text, { boolean: 'true' })),
  ...['f', 'no', 'off', 'FALSE'].map((text) => word(text, { boolean: 'false' })),
  word('12', whole('12')),
  word(' 12 ', whole('12')),
  word('+5', whole('5')),
  word('007', whole('7')),
  word('1.5', { numeric: '1.5' }),
  word('.5', { numeric: '0.5' }),
  word('1e5', { numeric: '100000' }),
  word(nines(400), { numeric: nines(400) }),
  word(nines(3_000), { numeric: nines(3_000) }),
  word('ü'.repeat(1_300)),
  word('10.0.0.1', { inet: '10.0.0.1' }),
  word('10.0.0.0/8', { inet: '10.0.0.0/8' }),
  word('2001:DB8::1', { inet: '2001:db8::1' }),
  word('::1', { inet: '::1' }),
  ...[
    '0b7c1f9e-5a53-4c2e-9d55-0123456789ab',
    '0B7C1F9E-5A53-4C2E-9D55-0123456789AB',
    '{0b7c1f9e-5a53-4c2e-9d55-0123456789ab}',
    '0b7c1f9e5a534c2e9d550123456789ab',
  ].map((text) => word(text, { uuid: '0b7c1f9e-5a53-4c2e-9d55-0123456789ab' })),
];
const ALWAYS = [...SHELF, ...NUMBERS, ...WORDS, ...MEANT];
/** What `jsonb` refuses. */
const REFUSED: readonly Given[] = [
  changed('"a\\u0000b"', 'a\ufffdb'),
  changed('"\\u0000"', '\ufffd'),
  changed('"x\\ud800"', 'x\ufffd'),
  changed('1e200000', '1e200000'),
];

/** Chance: a number in [0, 1). */
type Dice = () => number;
const below = (dice: Dice, most: number): number => Math.floor(dice() * most);
const oneOf = <T>(dice: Dice, all: readonly T[]): T => all[below(dice, all.length)] as T;
const digitsOf = (dice: Dice, count: number): string =>
  Array.from(
    { length: count },
    (_, at) => below(dice, at === 0 ? 9 : 10) + (at === 0 ? 1 : 0),
  ).join('');

/** An instant between 2001 and 2286, whose seconds have ten digits, in one of its spellings. */
function instant(dice: Dice): Given {
  const [seconds, micros] = [1e9 + below(dice, 9e9), below(dice, 1e6)];
  const exact = BigInt(seconds) * 1_000_000n + BigInt(micros);
  const iso = new Date(seconds * 1_000).toISOString().slice(0, 19);
  const hours = 1 + below(dice, 12);
  const there = new Date((seconds + hours * 3_600) * 1_000).toISOString().slice(0, 19);
  const offset = `+${String(hours).padStart(2, '0')}`;
  const six = String(micros).padStart(6, '0');
  const at = (text: string, value: bigint) => word(text, { timestamptz: String(value) });
  switch (below(dice, 8)) {
    case 0:
      return at(`${iso}.${six}Z`, exact);
    case 1:
      return at(`${there}.${six}${offset}00`, exact);
    case 2:
      return at(`${there.replace('T', ' ')},${six} ${offset}:00`, exact);
    // Without an offset it is of the time zone of the source, here UTC; what is finer than a microsecond is cut off.
    case 3:
      return at(`${iso}.${six}999`, exact);
    case 4:
      return at(`${iso}Z`, BigInt(seconds) * 1_000_000n);
    case 5:
      return integer(`${seconds}${six.slice(0, oneOf(dice, [0, 3, 6]))}`);
    case 6:
      return integer(`${seconds}${six}${digitsOf(dice, 3)}`);
    default: {
      const day = iso.slice(0, 10);
      const midnight = String(BigInt(Date.parse(`${day}T00:00:00Z`)) * 1_000n);
      return word(day, { date: day, timestamptz: midnight });
    }
  }
}

/** A value for a field, mostly of the kind that its column expects. */
export function valueFor(dice: Dice, type: Type, mayBeRefused: boolean): Given | undefined {
  const chance = dice();
  if (chance < 0.06) return undefined;
  if (mayBeRefused && chance < 0.08) return oneOf(dice, REFUSED);
  if (chance < 0.45) return oneOf(dice, ALWAYS);
  if (chance < 0.5) return instant(dice);
  switch (type) {
    case 'smallint':
      return integer(String(below(dice, 65_536) - 32_768));
    case 'integer':
      return integer(String(below(dice, 2 ** 32) - 2 ** 31));
    case 'bigint':
      return integer(digitsOf(dice, 18 + below(dice, 3)));
    case 'numeric': {
      const text = `${digitsOf(dice, 1 + below(dice, 30))}.${digitsOf(dice, 1 + below(dice, 30))}`;
      return fraction(text, text);
    }
    case 'timestamptz':
    case 'date':
      return instant(dice);
    case 'inet': {
      const address = Array.from({ length: 4 }, () => below(dice, 256)).join('.');
      return word(address, { inet: address });
    }
    default:
      return word(`w${below(dice, 1e6)}`);
  }
}
