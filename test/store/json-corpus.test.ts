/** Every body of the corpus against a real Postgres: taken as it is, or after the named changes, or refused as no JSON. */
import { describe, expect, test } from 'vitest';
import { EnvelopeError } from '../../src/errors.ts';
import { repair } from '../../src/store/bodies/body-repair.ts';
import { isJson, parses } from '../support/is-json.ts';
import { REFUSED, TAKEN } from '../support/json-corpus.ts';
import { CHANGED } from '../support/jsonb-corpus.ts';
import { jsonbTaster } from '../support/jsonb-taster.ts';

const { asText } = jsonbTaster();

/** The body as `jsonb` as text; undefined: Postgres refuses it. */
async function inPostgres(body: Buffer): Promise<string | undefined> {
  try {
    return await asText(body);
  } catch (error) {
    const code = String((error as { code?: unknown }).code);
    if (!/^(22P02|22P05|22003|22021|54001)$/.test(code)) throw error;
    return undefined;
  }
}

test('the corpus is large', () => {
  expect(Object.keys({ ...TAKEN, ...CHANGED, ...REFUSED }).length).toBeGreaterThanOrEqual(250);
});

describe('taken as it is', () => {
  test.each(Object.entries(TAKEN))('%s', async (_, given) => {
    const body = Buffer.from(given);
    expect(await inPostgres(body)).toBeDefined();
    expect(parses(body)).toBe(true);
    expect(isJson(body)).toBe(true);
    const { body: result, ...changes } = repair(body);
    expect(changes).toEqual({ changes: [], changeCount: 0 });
    expect(result).toBe(body);
  });
});

describe('taken after a change', () => {
  test.each(Object.entries(CHANGED))('%s', async (_, [given, faults, expected]) => {
    const body = Buffer.from(given);
    expect(await inPostgres(body)).toBeUndefined();
    expect(isJson(body)).toBe(true);
    const { body: result, changes, changeCount } = repair(body);
    expect(changes.map(({ what }) => what)).toEqual(faults);
    expect(changeCount).toBe(faults.length);
    if (expected !== undefined) expect(result.toString()).toBe(expected.toString());
    expect(await inPostgres(result)).toBeDefined();
    expect(repair(result)).toEqual({ body: result, changes: [], changeCount: 0 });
  });
});

describe('refused as no JSON', () => {
  test.each(Object.entries(REFUSED))('%s', async (_, given) => {
    const body = Buffer.from(given);
    expect(await inPostgres(body)).toBeUndefined();
    expect(parses(body)).toBe(false);
    expect(isJson(body)).toBe(false);
    expect(() => repair(body)).toThrow(EnvelopeError);
  });
});
