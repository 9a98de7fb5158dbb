/** Bodies of megabytes in which everything is wrong, and what their repair may cost. */
import { expect } from 'vitest';
import { EnvelopeError } from '../../src/errors.ts';
import { repair } from '../../src/store/bodies/body-repair.ts';

const UNIT = Buffer.concat([
  Buffer.from(
    '{"id":9007199254740993,"k\\u0000":"\\ud800 text é","n":[1e999999,1.10,[[[]]]],"b":"',
  ),
  Buffer.from([0xff]),
  Buffer.from('"},'),
]);

/** A page of about `megabytes` in which everything is poisoned. */
const page = (megabytes: number): Buffer =>
  Buffer.concat([
    Buffer.from('{"data":['),
    Buffer.alloc(UNIT.length * Math.ceil((megabytes * 1e6) / UNIT.length), UNIT),
    Buffer.from('{}]}'),
  ]);

/** Bodies of about so many megabytes, each with another kind of poison. */
export function largeBodies(megabytes: number): (readonly [string, Buffer])[] {
  const bytes = megabytes * 1e6;
  return [
    ['poison in every record', page(megabytes)],
    ['nothing but U+0000', Buffer.from(`["${'\\u0000'.repeat(bytes / 6)}"]`)],
    ['nothing but bad bytes', Buffer.from(`["${'x'.repeat(bytes)}"]`).fill(0xff, 2, bytes)],
    [
      'lists that are too deep',
      Buffer.from(`${'['.repeat(500)}[]${',[]'.repeat(0.3 * bytes)}${']'.repeat(500)}`),
    ],
    [
      'poisoned keys in every level',
      Buffer.from(
        `${`{"\\u0000":0,"\\ufffd":`.repeat(400)}["${'x'.repeat(bytes)}"]${'}'.repeat(400)}`,
      ),
    ],
    ['small bombs', Buffer.from(`[${'1e999,'.repeat(0.17 * bytes)}1]`)],
  ];
}

/** Of work, not of waiting: what takes longer than its size allows takes hours. */
export function expectWithin(seconds: number, body: Buffer): void {
  const begin = process.cpuUsage();
  expect(repair(body).changeCount).toBeGreaterThan(0);
  const { user, system } = process.cpuUsage(begin);
  expect((user + system) / 1e6).toBeLessThan(seconds);
}

/** What is so deep is taken, or told to be no JSON. */
export function expectDeepTaken(levels: number): void {
  const read = (text: string) => repair(Buffer.from(text)).changes;
  const lists = read(`${'['.repeat(levels)}${']'.repeat(levels)}`);
  expect(lists.map(({ what }) => what)).toEqual(['depth']);
  expect(lists[0]?.path.length).toBeLessThanOrEqual(256);
  const objects = read(`${'{"":'.repeat(levels)}1${'}'.repeat(levels)}`);
  expect(objects.map(({ what }) => what)).toEqual(['depth']);
  expect(() => read('['.repeat(levels))).toThrow(EnvelopeError);
}
