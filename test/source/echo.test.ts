/** A source that says the key back, in any header and body, before and after the key was rotated: no error tells it, no page holds it. */
import { expect, test } from 'vitest';
import { EnvelopeError } from '../../src/errors.ts';
import { openRedactor } from '../../src/redactor.ts';
import { SPELLINGS } from '../support/spellings.ts';
import { CANARY, open } from './open.ts';
import { expectSilence, IN_HEADERS, KEYS, NEW_KEY, rotated } from './rotated-key.ts';
import { answer, type Step, scriptedServer } from './scripted-server.ts';

test.each(IN_HEADERS)('%s, in headers', async (_, spell) => {
  const steps: ((text: string) => Step)[] = [
    (text) => answer('{}', { headers: { 'Content-Encoding': text } }),
    (text) => answer('{}', { status: 302, headers: { Location: `https://${text}/${text}` } }),
    (text) => answer(text, { status: 400, headers: { 'Content-Encoding': text } }),
    (text) => answer('', { status: 429, headers: { 'Retry-After': text, RateLimit: text } }),
    (text) => answer('<>', { headers: { 'Content-Type': text } }),
    (text) => answer('{}', { headers: { 'Transfer-Encoding': text } }),
  ];
  for (const step of steps) {
    const server = await scriptedServer([rotated(step, spell)]);
    const options = { refreshKey: async () => NEW_KEY, retryTimeMs: 0 };
    expectSilence(await open(server.url, options).fails(), spell);
  }
});

test.each(Object.entries(SPELLINGS))('%s, in bodies of errors', async (_, spell) => {
  const steps: ((text: string) => Step)[] = [
    (text) => answer(Buffer.from(`no: ${text}`, 'latin1'), { status: 400 }),
    (text) => answer(Buffer.from(text, 'latin1')),
    (text) => answer(Buffer.from(`{"data":[${text}`, 'latin1')),
  ];
  for (const step of steps) {
    const server = await scriptedServer([rotated(step, spell)]);
    const { fails, source } = open(server.url, { refreshKey: async () => NEW_KEY, retryTimeMs: 0 });
    expectSilence(await fails(), spell);
    const list = JSON.stringify({ [KEYS.map(spell).join()]: [{ a: 1 }], b: [{ a: 1 }] });
    expect(() => source.findContract(Buffer.from(list))).toThrow(EnvelopeError);
    try {
      source.findContract(Buffer.from(list));
    } catch (error) {
      expectSilence(error, spell);
    }
  }
});

test('a page with a key in it, the one before or the one now, is no page', async () => {
  for (const key of KEYS)
    for (const name of ['as it is', 'in JSON', 'in base64 behind a name', 'in hexadecimal']) {
      const page = JSON.stringify({ data: [{ log: `GET / ${SPELLINGS[name]?.(key)} 200` }] });
      const server = await scriptedServer([rotated(() => answer(page), String)]);
      const error = await open(server.url, { refreshKey: async () => NEW_KEY }).fails();
      expect(error).toBeInstanceOf(EnvelopeError);
      expect(error.message).toContain('the answer holds the API key');
      expectSilence(error, String);
    }
});

test('a password of the database in a page is a word like others', async () => {
  const server = await scriptedServer([answer('{"data":[{"log":"user postgres"}]}')]);
  const redactor = openRedactor(['postgres']);
  const { fetch } = open(server.url, { redactor });
  expect((await fetch()).body.toString()).toContain('postgres');
  expect(redactor.redact(`${CANARY} postgres`)).toBe('*** ***');
});
