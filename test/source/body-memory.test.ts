/** Memory of bodies is never in two hands at once, and what is not from there never gets into it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BodyMemory } from '../../src/source/body-memory.ts';

const KIB = 1024;

describe('memory of bodies', () => {
  it('is lent to one at a time, whatever is taken and given back in whatever order', () => {
    const size = fc.integer({ min: 1, max: 400 * KIB });
    const step = fc.oneof(
      size.map((bytes) => ({ take: bytes, back: null })),
      fc.nat(20).map((back) => ({ take: null, back })),
    );
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 60 }),
        fc.integer({ min: 0, max: 2_000 * KIB }),
        (steps, most) => {
          const memory = new BodyMemory(most);
          const held: { piece: Buffer; mark: number }[] = [];
          for (const [mark, { take, back }] of steps.entries()) {
            if (take !== null) {
              const piece = memory.take(take);
              expect(piece.length).toBeGreaterThanOrEqual(take);
              held.push({ piece: piece.fill(mark), mark });
            } else {
              const [given] = held.splice(back % Math.max(1, held.length), 1);
              if (given !== undefined) {
                memory.giveBack(given.piece);
                memory.giveBack(given.piece);
              }
            }
            for (const { piece, mark: own } of held)
              expect(piece.equals(Buffer.alloc(piece.length, own))).toBe(true);
          }
        },
      ),
      { numRuns: 150 },
    );
  });

  it('serves a page about as large again, and none that is much smaller', () => {
    const memory = new BodyMemory(4_000 * KIB);
    const first = memory.take(600 * KIB);
    memory.giveBack(first);
    expect(memory.take(150 * KIB).buffer).not.toBe(first.buffer);
    expect(memory.take(650 * KIB).buffer).toBe(first.buffer);
  });

  it('keeps no more than it was told to, the newest', () => {
    const memory = new BodyMemory(220 * KIB);
    const [one, other] = [memory.take(100 * KIB), memory.take(100 * KIB)];
    memory.giveBack(one);
    memory.giveBack(other);
    expect(memory.take(100 * KIB).buffer).toBe(other.buffer);
    expect(memory.take(100 * KIB).buffer).not.toBe(one.buffer);
  });

  it('takes nothing that it did not lend', () => {
    const memory = new BodyMemory(4_000 * KIB);
    const foreign = Buffer.alloc(100 * KIB);
    memory.giveBack(foreign);
    expect(memory.take(100 * KIB).buffer).not.toBe(foreign.buffer);
  });
});
