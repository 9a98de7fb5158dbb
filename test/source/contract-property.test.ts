/** The search for the contract over random bodies: what is found is what was put there, and nothing but EnvelopeError is thrown. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EnvelopeError } from '../../src/errors.ts';
import { findContract } from '../../src/source/find-contract.ts';

const name = fc.oneof(
  fc.constantFrom(
    'data',
    'items',
    'hits',
    'total',
    'meta',
    'page',
    'count',
    'links',
    'error',
    'a',
    'b',
    'x.y',
    '__proto__',
    'value',
  ),
  fc.string({ maxLength: 6 }),
);
const record = fc.dictionary(name, fc.jsonValue({ maxDepth: 2 }), {
  maxKeys: 3,
  noNullPrototype: true,
});
const scalar = fc.oneof(fc.boolean(), fc.integer(), fc.string(), fc.constant(null));

/** JSON text of `value` in objects under `path`, each with neighbours that hold what `beside` gives. */
function wrap(
  value: unknown,
  levels: readonly { key: string; beside: [string, unknown][] }[],
): string {
  return levels.reduceRight((inner, { key, beside }) => {
    const others = beside
      .filter(([other]) => other !== key)
      .map(([other, content]) => `${JSON.stringify(other)}:${JSON.stringify(content)},`);
    return `{${others.join('')}${JSON.stringify(key)}:${inner}}`;
  }, JSON.stringify(value));
}

const neighbour = fc.oneof(
  { weight: 5, arbitrary: scalar },
  { weight: 1, arbitrary: fc.constantFrom([], {}, { total: 3 }, ['a']) },
  { weight: 1, arbitrary: fc.array(record, { minLength: 1, maxLength: 2 }) },
);
const level = fc.record({
  key: name,
  beside: fc.uniqueArray(fc.tuple(name, neighbour), { maxLength: 3, selector: ([n]) => n }),
});

/** The contract, or undefined where it was refused. */
function lookAt(text: string) {
  try {
    return findContract(Buffer.from(text));
  } catch (error) {
    expect(error).toBeInstanceOf(EnvelopeError);
    return undefined;
  }
}
const at = (text: string, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, key) => (value as Record<string, unknown>)[key], JSON.parse(text));

test('a list wrapped in anything is found or refused, never another one', () => {
  let hits = 0;
  fc.assert(
    fc.property(
      fc.array(record, { minLength: 1, maxLength: 4 }),
      fc.array(level, { maxLength: 5 }),
      (list, levels) => {
        const marked = list.map((one) => ({ ...one, marked: true }));
        const text = wrap(marked, levels);
        const contract = lookAt(text);
        if (contract === undefined) return;
        hits++;
        // Another list may only be taken in a shape, or beside a name, that says where the records are.
        const known =
          contract.recordsPath.join('.') === 'hits.hits' || levels.at(-1)?.key === 'links';
        if (!known)
          expect(at(text, contract.recordsPath)).toEqual(JSON.parse(JSON.stringify(marked)));
      },
    ),
    { numRuns: 2000 },
  );
  expect(hits).toBeGreaterThan(200);
});

test('a lone list within four keys is always found, whatever scalars stand around it', () => {
  const plain = fc
    .string({ maxLength: 6 })
    .filter((text) => !/^(_?links|error|ok|status|sort)/i.test(text));
  const quiet = fc.record({
    key: plain,
    beside: fc.uniqueArray(fc.tuple(plain, fc.boolean()), { maxLength: 3, selector: ([n]) => n }),
  });
  fc.assert(
    fc.property(
      fc.array(record, { minLength: 1 }),
      fc.array(quiet, { maxLength: 4 }),
      (list, levels) => {
        const contract = lookAt(wrap(list, levels));
        expect(contract?.recordsPath).toEqual(levels.map(({ key }) => key));
        expect(contract?.totalPath).toBeNull();
      },
    ),
    { numRuns: 500 },
  );
});

test('what is found is always a list of objects and a whole number', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), (text) => {
      const contract = lookAt(text);
      if (contract === undefined) return;
      const list = at(text, contract.recordsPath);
      expect(Array.isArray(list)).toBe(true);
      for (const one of list as unknown[])
        expect(typeof one === 'object' && one !== null && !Array.isArray(one)).toBe(true);
      if (contract.totalPath !== null)
        expect(Number(at(text, contract.totalPath))).toBeGreaterThanOrEqual(0);
    }),
    { numRuns: 1000 },
  );
});

test('random bytes and every cut of a page are refused or read, never crashed on (B27)', () => {
  const page = Buffer.from(
    '\ufeff{"data":[{"id":9007199254740993,"t":"\\u00e9"}],"total":1,"meta":{"total":1}}',
  );
  for (let length = 0; length < page.length; length++)
    expect(() => findContract(page.subarray(0, length))).toThrow(EnvelopeError);
  fc.assert(
    fc.property(fc.nat(page.length - 1), fc.nat(255), (index, byte) => {
      const flipped = Buffer.from(page);
      flipped[index] = byte;
      lookAt(flipped.toString('latin1'));
    }),
  );
  fc.assert(
    fc.property(
      fc.uint8Array(),
      (bytes) => lookAt(Buffer.from(bytes).toString('latin1')) === undefined || true,
    ),
  );
});
