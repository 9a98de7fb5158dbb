/** What must hold for every page, tried on random ones against a real Postgres. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { EnvelopeError } from '../../src/errors.ts';
import { type Change, repair } from '../../src/store/bodies/body-repair.ts';
import { isJson, parses } from '../support/is-json.ts';
import { jsonbTaster } from '../support/jsonb-taster.ts';
import { DEPTH, poisonedPage } from '../support/poisoned.ts';

const brief = ({ path, offset, what }: Change) => ({ path, offset, what });

/** @param runs so many hundreds of pages, texts and numbers, about. */
export function randomBodies(runs: number): void {
  const { taken, records } = jsonbTaster();

  describe('random pages with poison in known places', () => {
    test('become what they must, byte for byte, and Postgres takes them with all their records', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(poisonedPage, { minLength: 1, maxLength: 30 }), async (pages) => {
          const bodies = pages.map((page) => {
            const { body, changes, changeCount } = repair(page.received, { depth: DEPTH });
            expect(body.toString()).toBe(page.repaired.toString());
            expect(body.equals(page.repaired)).toBe(true);
            expect(changes.map(brief)).toEqual(page.changes);
            expect(changeCount).toBe(page.changes.length);
            expect(repair(body, { depth: DEPTH }).body).toBe(body);
            return body;
          });
          expect(await records(bodies)).toEqual(pages.map((page) => page.records));
        }),
        { numRuns: 5 * runs },
      );
    });
  });

  describe('damaged texts', () => {
    const alphabet = Array.from('{}[]",:\\u0dD8bn eE+-.019tfn\n\t\0é').map((c) => Buffer.from(c));
    const piece = fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...alphabet) },
      fc
        .constantFrom('\\u0000', '\\ud800', '\\udc00', '1e131072', 'null')
        .map((s) => Buffer.from(s)),
      fc.integer({ min: 0x80, max: 0xff }).map((byte) => Buffer.from([byte])),
    );
    const start = fc.oneof(
      fc.json().map((text) => Buffer.from(text)),
      poisonedPage.map(({ received }) => received),
      fc.array(piece, { maxLength: 12 }).map((list) => Buffer.concat(list)),
      fc.array(piece, { maxLength: 12 }).map((list) => Buffer.from(`["${Buffer.concat(list)}"]`)),
    );
    const damaged = fc
      .tuple(
        start,
        fc.array(fc.tuple(fc.nat(), fc.nat({ max: 2 }), fc.option(piece)), { maxLength: 3 }),
      )
      .map(([body, edits]) =>
        edits.reduce((text, [place, length, insert]) => {
          const at = place % (text.length + 1);
          return Buffer.concat([
            text.subarray(0, at),
            insert ?? Buffer.alloc(0),
            text.subarray(at + length),
          ]);
        }, body),
      );

    test('are JSON exactly where JSON.parse says so, are changed exactly where Postgres refuses them, and end in named errors', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(damaged, { minLength: 50, maxLength: 100 }), async (bodies) => {
          const read = bodies.flatMap((body) => {
            const valid = parses(body);
            expect(isJson(body)).toBe(valid);
            if (valid) return [{ body, ...result(body) }];
            expect(() => repair(body)).toThrow(EnvelopeError);
            return [];
          });
          expect(await taken(read.map(({ body }) => body))).toEqual(
            read.map(({ changed }) => !changed),
          );
          expect(await taken(read.map(({ repaired }) => repaired))).toEqual(read.map(() => true));
        }),
        { numRuns: 5 * runs },
      );
    });

    function result(body: Buffer): { readonly changed: boolean; readonly repaired: Buffer } {
      const { body: repaired, changeCount } = repair(body);
      expect(repair(repaired)).toEqual({ body: repaired, changes: [], changeCount: 0 });
      return { changed: changeCount > 0, repaired };
    }
  });

  describe('numbers', () => {
    const around = (...edges: readonly number[]) =>
      fc.tuple(fc.constantFrom(...edges), fc.integer({ min: -6, max: 6 })).map(([a, b]) => a + b);
    const digits = fc.oneof(
      fc.constantFrom('', '0', '00', '1', '123', '0001', '1000'),
      around(16_383).map((n) => '0'.repeat(n)),
      around(16_383).map((n) => `${'0'.repeat(n)}7`),
    );
    const exponent = fc.oneof(
      fc.constant(''),
      around(0, 131_072, 147_455, -16_383).map((n) => `e${n}`),
      fc.constantFrom(
        'e+5',
        'E-16382',
        'e1073741822',
        'e-1073741822',
        'e1073741825',
        'e-4294967296',
      ),
    );
    const number = fc
      .tuple(
        fc.constantFrom('', '-'),
        fc.constantFrom('0', '1', '10', '999', '9999', '10000', '123456789'),
        digits,
        exponent,
      )
      .map(
        ([sign, whole, decimals, power]) => `${sign}${whole}${decimals && `.${decimals}`}${power}`,
      );

    test('are changed exactly where Postgres refuses them', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(number, { minLength: 50, maxLength: 50 }), async (numbers) => {
          const bodies = numbers.map((text) => Buffer.from(text));
          const refused = bodies.map((body) => repair(body).changeCount > 0);
          expect(await taken(bodies)).toEqual(refused.map((one) => !one));
        }),
        { numRuns: 4 * runs },
      );
    });
  });

  test('keys of a record that differ when received differ afterwards', () => {
    const key = fc
      .array(fc.constantFrom('a', '\\u0000', '\\ud800', '\\udfff', '\\ufffd', '2'), {
        maxLength: 3,
      })
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(fc.array(key, { maxLength: 12 }), (keys) => {
        const text = `[{${keys.map((name, i) => `"${name}":${i}`).join()}}]`;
        const after = repair(Buffer.from(text)).body;
        // JSON.parse keeps the last of equal keys, as jsonb does.
        const values = (json: string): unknown[] => Object.values(JSON.parse(json)[0]).sort();
        expect(values(after.toString())).toEqual(values(text));
        expect(repair(after).changeCount).toBe(0);
      }),
      { numRuns: 50 * runs },
    );
  });
}
