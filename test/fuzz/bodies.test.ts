/** Bodies, with `JSON.parse` and Postgres as the oracles: what is JSON, what `jsonb` takes, and what a repaired copy has changed. */
import fc from 'fast-check';
import { expect } from 'vitest';
import { EnvelopeError } from '../../src/errors.ts';
import { mayGrow, repair, visible } from '../../src/store/bodies/body-repair.ts';
import { isJson } from '../support/is-json.ts';
import { jsonbTaster } from '../support/jsonb-taster.ts';
import { fuzz } from './fuzzing.ts';

const { taken, asText } = jsonbTaster();
const PER_RUN = 40;

const piece = fc.constantFrom(
  'a',
  'é',
  '€',
  '😀',
  ' ',
  '/',
  '\\n',
  '\\"',
  '\\\\',
  '\\/',
  '\\u0041',
  '\\u00e9',
  '\\uD83D\\uDE00',
  '\\u0000',
  '\\ud800',
  '\\udc00',
  '\\uDfFf',
  '\\\\u0000',
  '\\ufffd',
  '\ufffd',
  '\u007f',
  '\u2028',
);
const text = fc.array(piece, { maxLength: 5 }).map((pieces) => `"${pieces.join('')}"`);
const number = fc.constantFrom(
  '0',
  '-0',
  '1',
  '-1.50',
  '1e5',
  '1E-7',
  '9007199254740993',
  '18446744073709551615',
  '1e400',
  '-1e131071',
  '1e131072',
  '1e-16383',
  '1e-16384',
  '0e99999999999',
  '0.1',
  '1e+2',
);
const gap = fc.constantFrom('', '', '', ' ', '\n', '\t\r');
const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthIdentifier: 'body' },
    text,
    number,
    fc.constantFrom('true', 'false', 'null'),
    fc
      .tuple(gap, fc.array(tie('value'), { maxLength: 4, depthIdentifier: 'body' }))
      .map(([space, items]) => `[${space}${items.join(`${space},`)}${space}]`),
    fc
      .tuple(gap, fc.array(fc.tuple(text, tie('value')), { maxLength: 4, depthIdentifier: 'body' }))
      .map(
        ([space, pairs]) =>
          `{${pairs.map(([name, one]) => `${space}${name}:${space}${one}`).join(',')}}`,
      ),
  ),
}));
/** JSON, mostly; with bytes that no UTF-8 has, and edits that break it. */
const byte = fc.oneof(
  fc.integer({ min: 0x80, max: 0xff }),
  fc.constantFrom(...Buffer.from('{}[]",:\\u0e+-.tfn \n\t')),
);
const body = fc
  .tuple(
    value,
    fc.array(fc.tuple(fc.nat(), fc.nat(2), fc.array(byte, { maxLength: 3 })), { maxLength: 2 }),
    fc.constantFrom('', '', '', '\ufeff'),
  )
  .map(([json, edits, mark]) =>
    edits.reduce(
      (bytes, [place, length, insert]) => {
        const at = place % (bytes.length + 1);
        return Buffer.concat([
          bytes.subarray(0, at),
          Buffer.from(insert),
          bytes.subarray(at + length),
        ]);
      },
      Buffer.from(mark + json),
    ),
  );
const bodies = fc.array(body, { minLength: PER_RUN, maxLength: PER_RUN });

const decode = (bytes: Buffer): string => new TextDecoder().decode(bytes);
function parsed(bytes: Buffer): { readonly document: unknown } | undefined {
  try {
    return { document: JSON.parse(decode(bytes)) };
  } catch {
    return undefined;
  }
}

fuzz({
  name: 'a body is JSON exactly where JSON.parse says so',
  runs: 50,
  inputsPerRun: PER_RUN,
  input: bodies,
  check: (all) => {
    for (const one of all) {
      expect(isJson(one)).toBe(parsed(one) !== undefined);
      if (parsed(one) === undefined) expect(() => repair(one)).toThrow(EnvelopeError);
    }
  },
});

fuzz({
  name: 'a body is changed exactly where Postgres refuses it, and Postgres takes every copy',
  runs: 25,
  inputsPerRun: PER_RUN,
  remote: true,
  input: bodies,
  check: async (all) => {
    const valid = all.filter((one) => parsed(one) !== undefined);
    const done = valid.map((one) => repair(one));
    expect(await taken(valid)).toEqual(done.map(({ changeCount }) => changeCount === 0));
    expect(await taken(done.map((one) => one.body))).toEqual(done.map(() => true));
  },
});

/** Without U+0000 and halves of pairs. */
const cured = (text: string): string =>
  text.replaceAll('\0', '\ufffd').replace(/\p{Cs}/gu, '\ufffd');
/** Whether a key may have become `name`: cured, and made to differ from others by what stands behind it. */
const mayBecome = (key: string, name: string): boolean =>
  name.startsWith(cured(key)) && /^(\ufffd[0-9a-f]{8})?$/.test(name.slice(cured(key).length));
/** A key as the path of a change shows it. */
const escaped = (name: string): string =>
  visible(name, 64).replaceAll('~', '~0').replaceAll('/', '~1');

/** Where two documents differ although no change there is told. */
function* untold(
  received: unknown,
  stored: unknown,
  told: ReadonlySet<string>,
  path = '',
): Generator<string> {
  if (Array.isArray(received) && Array.isArray(stored) && received.length === stored.length) {
    for (let i = 0; i < stored.length; i += 1)
      yield* untold(received[i], stored[i], told, `${path}/${i}`);
  } else if (isRecord(received) && isRecord(stored)) {
    const names = Object.keys(received);
    for (const name of Object.keys(stored)) {
      const at = `${path}/${escaped(name)}`;
      // Where keys were changed, one may have the name that another one had.
      const from = names.filter((one) => one === name || (told.has(at) && mayBecome(one, name)));
      const found = from.map((one) => [...untold(received[one], stored[name], told, at)]);
      if (found.every(({ length }) => length > 0)) yield* found[0] ?? [];
      if (from.length === 0 && !told.has(at)) yield `${at}: a key that did not come`;
    }
    // A key with bytes that are not UTF-8 looks like a good one here.
    const became = (name: string): boolean =>
      Object.keys(stored).some(
        (one) => told.has(`${path}/${escaped(one)}`) && mayBecome(name, one),
      );
    const lost = names.filter(
      (name) => !Object.hasOwn(stored, name) && name === cured(name) && !became(name),
    );
    yield* lost.map((name) => `${path}/${escaped(name)}: a good key is gone`);
  } else if (typeof received === 'string' && typeof stored === 'string') {
    const wanted = told.has(path) ? cured(received) : received;
    if (stored !== wanted)
      yield `${path}: ${JSON.stringify(stored)}, not ${JSON.stringify(wanted)}`;
  } else if (typeof received === 'number' && typeof stored === 'string') {
    if (!told.has(path) || Number(stored) !== received) yield `${path}: another number`;
  } else if (!Object.is(received, stored)) yield `${path}: something else`;
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

fuzz({
  name: 'a repaired copy says what was received, but for the changes that are told',
  runs: 50,
  inputsPerRun: PER_RUN,
  input: bodies,
  check: (all) => {
    for (const one of all) {
      const before = parsed(one);
      if (before === undefined) continue;
      const { body: copy, changes } = repair(one);
      const told = new Set(changes.map(({ path }) => path));
      const after = parsed(copy);
      expect(after).toBeDefined();
      expect([...untold(before.document, after?.document, told)]).toEqual([]);
      if (changes.length === 0) expect(copy).toBe(one);
    }
  },
});

fuzz({
  name: 'no body that Postgres writes out four times as long is overlooked',
  runs: 60,
  remote: true,
  input: body,
  check: async (one) => {
    if (mayGrow(one)) return;
    const written = await asText(one).catch(() => '');
    expect(written.replaceAll(/[,:] /g, '').length).toBeLessThanOrEqual(4 * one.length + 4);
  },
});
