/** Random pages with poison in known places: what is received, and what is to become of it, written side by side. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import type { Fault } from '../../src/store/bodies/body-repair.ts';

/** A change that has to be told. */
export interface Expected {
  readonly path: string;
  readonly offset: number;
  readonly what: Fault;
}

/** A page, and the page that it must become. */
export interface Poisoned {
  readonly received: Buffer;
  readonly repaired: Buffer;
  readonly changes: readonly Expected[];
  readonly records: number;
}

/** A piece of a string: received, as it has to become, and why; no reason: as it is. */
type Piece = readonly [Buffer, Buffer, Fault?];
type Node =
  | { readonly kind: 'string'; readonly pieces: readonly Piece[] }
  | { readonly kind: 'number'; readonly text: string; readonly poison: boolean }
  | { readonly kind: 'word'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly Node[]; readonly space: string }
  | {
      readonly kind: 'object';
      readonly pairs: readonly (readonly [readonly Piece[], Node])[];
      readonly space: string;
    };

/** The generated pages hold containers that are deeper than this. */
export const DEPTH = 5;

/** What a changed key ends in, because two that differed have to differ still. */
const toldApart = (key: Buffer): string =>
  `\ufffd${createHash('sha256').update(`"`).update(key).update(`"`).digest('hex').slice(0, 8)}`;
const REPLACEMENT = Buffer.from('\ufffd');
const ESCAPED_REPLACEMENT = Buffer.from('\\ufffd');
const same = (text: string): Piece => [Buffer.from(text), Buffer.from(text)];
const escaped = (text: string, what: Fault): Piece => [
  Buffer.from(text),
  ESCAPED_REPLACEMENT,
  what,
];
const raw = (...bytes: readonly number[]): Piece => [Buffer.from(bytes), REPLACEMENT, 'utf8'];

const good = fc
  .oneof(
    fc
      .string({ unit: 'binary', maxLength: 8 })
      .map((text) => JSON.stringify(text.replaceAll('\0', '0')).slice(1, -1)),
    fc.constantFrom('\\\\u0000', '\\ud83d\\ude00', '\\u00e9', '\\\\', '\\"', 'é€😀', '\\/'),
  )
  // An x at both ends keeps surrogates of one piece away from those of the next.
  .map((text) => same(`x${text}x`));
const bad = fc.constantFrom(
  escaped('\\u0000', 'nul'),
  escaped('\\ud800', 'surrogate'),
  escaped('\\uDFFF', 'surrogate'),
  raw(0xff),
  raw(0xe2, 0x82),
  raw(0xf0, 0x9f, 0x98),
  raw(0x80),
);
const pieces = fc
  .array(fc.oneof({ weight: 5, arbitrary: good }, { weight: 1, arbitrary: bad }), { maxLength: 4 })
  .map((list) => list.flatMap((piece) => [piece, same('-')]));
/** A path shows them as they are. */
const name = fc
  .array(
    fc.oneof(
      {
        weight: 5,
        arbitrary: fc.constantFrom('a', 'é', '😀', '/', '~', '\\u0041', '\\"', ' ').map(same),
      },
      { weight: 1, arbitrary: bad },
    ),
    { maxLength: 3 },
  )
  .map((list) => list.flatMap((piece) => [piece, same('-')]));
const number = fc.oneof(
  fc
    .oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.bigInt())
    .map((value) => ({ kind: 'number' as const, text: String(value), poison: false })),
  fc
    .constantFrom('1e131071', '1.10', '-0', '1e-16383', '9007199254740993')
    .map((text) => ({ kind: 'number' as const, text, poison: false })),
  fc
    .constantFrom('1e131072', '-1E+999999999999', '0e-16384', '1e-99999')
    .map((text) => ({ kind: 'number' as const, text, poison: true })),
);
const space = fc.constantFrom('', ' ', '\n\t');

const { object } = fc.letrec<{ value: Node; list: Node; object: Node }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 4, arbitrary: pieces.map((list) => ({ kind: 'string' as const, pieces: list })) },
    { weight: 2, arbitrary: number },
    fc.constantFrom('true', 'false', 'null').map((text) => ({ kind: 'word' as const, text })),
    { weight: 2, arbitrary: tie('list') },
    { weight: 2, arbitrary: tie('object') },
  ),
  list: fc.record({
    kind: fc.constant('list' as const),
    items: fc.array(tie('value'), { maxLength: 4 }),
    space,
  }),
  object: fc.record({
    kind: fc.constant('object' as const),
    pairs: fc.array(fc.tuple(name, tie('value')), { maxLength: 4 }),
    space,
  }),
}));
class Writer {
  readonly received: Buffer[] = [];
  readonly repaired: Buffer[] = [];
  readonly changes: Expected[] = [];
  #offset = 0;

  write(node: Node, path: string, level: number): void {
    if (node.kind === 'word') this.#same(node.text);
    else if (node.kind === 'string') this.#string(node.pieces, path);
    else if (node.kind === 'number') this.#number(node.text, node.poison, path);
    else if (level === DEPTH) this.#tooDeep(node, path);
    else if (node.kind === 'list') {
      this.#same(`[${node.space}`);
      for (const [i, item] of node.items.entries()) {
        if (i > 0) this.#same(`,${node.space}`);
        this.write(item, `${path}/${i}`, level + 1);
      }
      this.#same(`${node.space}]`);
    } else {
      this.#same(`{${node.space}`);
      for (const [i, [name, item]] of node.pairs.entries()) {
        if (i > 0) this.#same(`,${node.space}`);
        // Numbered, so that no two keys become equal.
        const key: readonly Piece[] = [same(`${i}`), ...name];
        const bad = key.some(([, , what]) => what !== undefined);
        const mark = bad ? toldApart(Buffer.concat(key.map(([before]) => before))) : '';
        const text = JSON.parse(
          `"${Buffer.concat(key.map(([, after]) => after))}${mark}"`,
        ) as string;
        const inside = `${path}/${text.replaceAll('~', '~0').replaceAll('/', '~1')}`;
        this.#string(key, inside, mark);
        this.#same(`${node.space}:`);
        this.write(item, inside, level + 1);
      }
      this.#same(`${node.space}}`);
    }
  }

  #same(text: string): void {
    this.#put(Buffer.from(text), Buffer.from(text));
  }

  #put(before: Buffer, after: Buffer): void {
    this.received.push(before);
    this.repaired.push(after);
    this.#offset += before.length;
  }

  #string(list: readonly Piece[], path: string, mark = ''): void {
    const faults = new Set(list.flatMap(([, , what]) => what ?? []));
    // What a decoder replaces is told first.
    if (faults.delete('utf8')) this.changes.push({ path, offset: this.#offset, what: 'utf8' });
    for (const what of faults) this.changes.push({ path, offset: this.#offset, what });
    this.#same('"');
    for (const [before, after] of list) this.#put(before, after);
    this.#put(Buffer.alloc(0), Buffer.from(mark));
    this.#same('"');
  }

  #number(text: string, poison: boolean, path: string): void {
    if (poison) this.changes.push({ path, offset: this.#offset, what: 'number' });
    this.#put(Buffer.from(text), Buffer.from(poison ? `"${text}"` : text));
  }

  #tooDeep(node: Node, path: string): void {
    this.changes.push({ path, offset: this.#offset, what: 'depth' });
    const inner = new Writer();
    inner.write(node, '', Number.NEGATIVE_INFINITY);
    const text = Buffer.concat(inner.received);
    // What is too deep is short here, so that it is never cut.
    this.#put(text, Buffer.from(JSON.stringify(text.toString('utf8'))));
  }
}

/** Pages `{"data": [records], "total": n}`. */
export const poisonedPage: fc.Arbitrary<Poisoned> = fc
  .array(object, { maxLength: 6 })
  .map((records) => {
    const writer = new Writer();
    const data: Node = { kind: 'list', items: records, space: '' };
    const total: Node = { kind: 'number', text: String(records.length), poison: false };
    // The keys of a page are without numbers, so the page is written in three parts.
    writer.write({ kind: 'word', text: '{"data":' }, '', 0);
    writer.write(data, '/data', 1);
    writer.write({ kind: 'word', text: ',"total":' }, '', 0);
    writer.write(total, '/total', 1);
    writer.write({ kind: 'word', text: '}' }, '', 0);
    return {
      received: Buffer.concat(writer.received),
      repaired: Buffer.concat(writer.repaired),
      changes: writer.changes,
      records: records.length,
    };
  });
