/** Bodies that are JSON and that `jsonb` refuses, written down by hand, with what has to be changed in them. */
import { createHash } from 'node:crypto';
import type { Fault } from '../../src/store/bodies/body-repair.ts';
import { type Body, bytes, nested, objects } from './json-corpus.ts';

/** What is put behind a key of a record that was changed. */
export const told = (key: string | Buffer): string =>
  `\ufffd${createHash('sha256').update(key).digest('hex').slice(0, 8)}`;

/** `jsonb` refuses them; what is found, in its order, and the text that results. */
export const CHANGED: Readonly<Record<string, readonly [Body, readonly Fault[], Body?]>> = {
  'UTF-16LE with a mark': [Buffer.from('\ufeff{"é":"😀"}', 'utf16le'), ['utf16'], '{"é":"😀"}'],
  'UTF-16BE with a mark': [
    Buffer.from('\ufeff{"é":"😀"}', 'utf16le').swap16(),
    ['utf16'],
    '{"é":"😀"}',
  ],
  'UTF-16LE with half a pair': [
    Buffer.from('\ufeff["\ud83dx"]', 'utf16le'),
    ['utf16'],
    '["\ufffdx"]',
  ],
  'U+0000 in a value': ['["a\\u0000b"]', ['nul'], '["a\\ufffdb"]'],
  'U+0000 alone': ['"\\u0000"', ['nul'], '"\\ufffd"'],
  'U+0000 twice': ['["\\u0000\\u0000"]', ['nul'], '["\\ufffd\\ufffd"]'],
  'U+0000 and a digit': ['["\\u00001"]', ['nul'], '["\\ufffd1"]'],
  'U+0000 in a key': ['{"a\\u0000":1}', ['nul'], '{"a\\ufffd":1}'],
  'U+0000 after an escaped backslash': ['["\\\\\\u0000"]', ['nul'], '["\\\\\\ufffd"]'],
  'U+0000 in a key of a record': [
    '[{"a\\u0000":1}]',
    ['nul'],
    `[{"a\\ufffd${told('"a\\u0000"')}":1}]`,
  ],
  'U+0000 in a key of a record, whose changed name is there': [
    '[{"\\u0000":1,"\\ufffd":2}]',
    ['nul'],
    `[{"\\ufffd${told('"\\u0000"')}":1,"\\ufffd":2}]`,
  ],
  'keys that would become equal': [
    '[{"\\u0000":1,"\\ud800":2,"\\udfff":3}]',
    ['nul', 'surrogate', 'surrogate'],
    `[{"\\ufffd${told('"\\u0000"')}":1,"\\ufffd${told('"\\ud800"')}":2,"\\ufffd${told('"\\udfff"')}":3}]`,
  ],
  'two keys that were equal': [
    '[{"\\u0000":1,"\\u0000":2}]',
    ['nul', 'nul'],
    `[{"\\ufffd${told('"\\u0000"')}":1,"\\ufffd${told('"\\u0000"')}":2}]`,
  ],
  'high surrogate alone': ['["\\ud800"]', ['surrogate'], '["\\ufffd"]'],
  'low surrogate alone': ['["\\udc00"]', ['surrogate'], '["\\ufffd"]'],
  'high surrogate and a letter': ['["\\ud800a"]', ['surrogate'], '["\\ufffda"]'],
  'high surrogate and another escape': ['["\\ud800\\n"]', ['surrogate'], '["\\ufffd\\n"]'],
  'high surrogate and an escaped letter': [
    '["\\uD800\\u0061"]',
    ['surrogate'],
    '["\\ufffd\\u0061"]',
  ],
  'high surrogate and an escaped backslash': [
    '["\\ud800\\\\udc00"]',
    ['surrogate'],
    '["\\ufffd\\\\udc00"]',
  ],
  'high surrogate and U+0000': ['["\\ud800\\u0000"]', ['surrogate', 'nul'], '["\\ufffd\\ufffd"]'],
  'two high surrogates': ['["\\ud800\\ud800"]', ['surrogate'], '["\\ufffd\\ufffd"]'],
  'a pair after a high surrogate': [
    '["\\ud83d\\ud83d\\ude00"]',
    ['surrogate'],
    '["\\ufffd\\ud83d\\ude00"]',
  ],
  'a swapped pair': ['["\\ude00\\ud83d"]', ['surrogate'], '["\\ufffd\\ufffd"]'],
  'a pair torn by the end of a string': [
    '["\\ud83d","\\ude00"]',
    ['surrogate', 'surrogate'],
    '["\\ufffd","\\ufffd"]',
  ],
  'surrogate in a key': ['{"\\udead":[]}', ['surrogate'], '{"\\ufffd":[]}'],
  'an escaped high surrogate and a raw character': [
    '["\\ud83d😀"]',
    ['surrogate'],
    '["\\ufffd😀"]',
  ],
  'a byte of Latin-1': [bytes('["caf', 0xe9, '"]'), ['utf8'], '["caf\ufffd"]'],
  'a byte of Latin-1 in a key': [bytes('{"', 0xe9, '":1}'), ['utf8'], '{"\ufffd":1}'],
  'keys that differ in a bad byte': [
    bytes('[{"', 0xe8, '":1,"', 0xe9, '":2}]'),
    ['utf8', 'utf8'],
    `[{"\ufffd${told(bytes('"', 0xe8, '"'))}":1,"\ufffd${told(bytes('"', 0xe9, '"'))}":2}]`,
  ],
  'a continuation alone': [bytes('["', 0x80, '"]'), ['utf8'], '["\ufffd"]'],
  'a sequence cut by the quote': [bytes('["', 0xe2, 0x82, '"]'), ['utf8'], '["\ufffd"]'],
  'a sequence cut by an escape': [bytes('["', 0xf0, 0x9f, '\\n"]'), ['utf8'], '["\ufffd\\n"]'],
  'a long sequence cut': [bytes('["', 0xf0, 0x9f, 0x98, 'x"]'), ['utf8'], '["\ufffdx"]'],
  'overlong slash': [bytes('["', 0xc0, 0xaf, '"]'), ['utf8'], '["\ufffd\ufffd"]'],
  'overlong letter': [bytes('["', 0xc1, 0xa1, '"]'), ['utf8'], '["\ufffd\ufffd"]'],
  'overlong NUL': [bytes('["', 0xc0, 0x80, '"]'), ['utf8'], '["\ufffd\ufffd"]'],
  'overlong in three bytes': [
    bytes('["', 0xe0, 0x80, 0x80, '"]'),
    ['utf8'],
    '["\ufffd\ufffd\ufffd"]',
  ],
  'a surrogate in UTF-8': [bytes('["', 0xed, 0xa0, 0x80, '"]'), ['utf8'], '["\ufffd\ufffd\ufffd"]'],
  'past the last character': [
    bytes('["', 0xf4, 0x90, 0x80, 0x80, '"]'),
    ['utf8'],
    '["\ufffd\ufffd\ufffd\ufffd"]',
  ],
  'bytes that UTF-8 never has': [bytes('["', 0xfe, 0xff, '"]'), ['utf8'], '["\ufffd\ufffd"]'],
  'a bad byte before a good character': [bytes('["', 0xe2, 'é"]'), ['utf8'], '["\ufffdé"]'],
  'a bad byte and U+0000': [bytes('["', 0xff, '\\u0000"]'), ['utf8', 'nul'], '["\ufffd\\ufffd"]'],
  'byte order mark': ['\ufeff{"a":1}', ['bom'], '{"a":1}'],
  'byte order mark and space': ['\ufeff [1]', ['bom'], ' [1]'],
  'byte order mark and U+0000': ['\ufeff["\\u0000"]', ['bom', 'nul'], '["\\ufffd"]'],
  'power of ten too large': ['[1e131072]', ['number'], '["1e131072"]'],
  'power of ten too large, negative': ['[-1E+131072]', ['number'], '["-1E+131072"]'],
  'digits before the point move it too large': ['[10e131071]', ['number'], '["10e131071"]'],
  'a number alone that is too large': ['1e999999', ['number'], '"1e999999"'],
  'a number as a value': ['{"a": 1e999999 }', ['number'], '{"a": "1e999999" }'],
  'exponent past 32 bits': ['[1e2147483648]', ['number'], '["1e2147483648"]'],
  'exponent past 64 bits': ['[1e99999999999999999999]', ['number']],
  'exponent past the doubles': [`[1e${'9'.repeat(400)}]`, ['number']],
  'exponent below 64 bits': ['[1e-99999999999999999999]', ['number']],
  'zero with an exponent too large': ['[0e99999999999]', ['number'], '["0e99999999999"]'],
  'zero with an exponent too small': ['[0e-16384]', ['number'], '["0e-16384"]'],
  'zero with a decimal too many': ['[0.0e-16383]', ['number'], '["0.0e-16383"]'],
  'power of ten too small': ['[1e-16384]', ['number'], '["1e-16384"]'],
  'decimals of a power too small': ['[1.5e-16383]', ['number'], '["1.5e-16383"]'],
  'too many digits before the point': [`[${'9'.repeat(131_073)}]`, ['number']],
  'too many digits after the point': [`[0.${'0'.repeat(16_384)}]`, ['number']],
  'two numbers': ['[1e131072,1,1e-16384]', ['number', 'number'], '["1e131072",1,"1e-16384"]'],
  'everything at once': [
    '{"\\u0000":["\\ud800",1e131072]}',
    ['nul', 'surrogate', 'number'],
    '{"\\ufffd":["\\ufffd","1e131072"]}',
  ],
  '20,000 lists': [nested(20_000), ['depth']],
  '20,000 objects': [objects(20_000), ['depth']],
  '20,000 lists with U+0000 inside': [nested(20_000, '"\\u0000"'), ['depth']],
};
