/** Exactly 200 is a page; every other status is the error that says what to do. */
import { describe, expect, test } from 'vitest';
import {
  type DaywalkError,
  EnvelopeError,
  RefusedError,
  RequestError,
  UnavailableError,
} from '../../src/errors.ts';
import { CANARY, everythingOf, open } from './open.ts';
import { answer, emptyPage, raw, scriptedServer } from './scripted-server.ts';

const PAGE = '{"data":[]}';

describe('at once, without a second request', () => {
  test.each([
    201, 202, 203, 206, 226, 299, 300, 301, 302, 303, 307, 308, 400, 402, 405, 406, 407, 409, 410,
    413, 414, 422, 431, 451, 600, 999,
  ])('%i is a RequestError, even with a page in its body', async (status) => {
    const server = await scriptedServer([answer(PAGE, { status })]);
    const error = await open(server.url).fails();
    expect(error).toBeInstanceOf(RequestError);
    expect(error).toMatchObject({ status });
    expect(error.message).toMatch(
      new RegExp(`^${server.url}/api/events \\(start 0, length 50\\) answered ${status}`),
    );
    expect(server.heads).toHaveLength(1);
  });

  test('a 202 that names a time is asked again then: what it was asked for is being fetched', async () => {
    const later = { status: 202, headers: { 'Retry-After': '1' } };
    const server = await scriptedServer([answer('{"status":"PENDING"}', later), answer(PAGE)]);
    expect((await open(server.url).fetch()).body.toString()).toBe(PAGE);
    expect(server.heads).toHaveLength(2);
  });

  test.each([205, 304])('%i without a body is a RequestError', async (status) => {
    const length = status === 205 ? 'Content-Length: 0\r\n' : '';
    const server = await scriptedServer([raw(`HTTP/1.1 ${status} Whatever\r\n${length}\r\n`)]);
    const error = await open(server.url).fails();
    expect(error).toBeInstanceOf(RequestError);
    expect(error).toMatchObject({ status, hint: 'only a 200 is a page' });
    expect(error.message).not.toContain('redirect');
  });

  test('a 204 is an answer without records, for who knows them of this source', async () => {
    const server = await scriptedServer([raw('HTTP/1.1 204 No Content\r\n\r\n')]);
    const page = await open(server.url).fetch();
    expect(page).toMatchObject({ status: 204, body: Buffer.from('null') });
    expect(page.refused).toBeInstanceOf(RequestError);
  });

  test('so is a 404 in JSON', async () => {
    const body = '{"message":"no events"}';
    const server = await scriptedServer([answer(body, { status: 404 })]);
    const page = await open(server.url).fetch();
    expect(page).toMatchObject({ status: 404, body: Buffer.from(body) });
    expect(page.refused).toMatchObject({ status: 404 });
  });

  test('but not one that says the key back: nothing that holds it is stored or shown', async () => {
    const body = `{"message":"no events","key":"${CANARY}"}`;
    const server = await scriptedServer([answer(body, { status: 404 })]);
    const error = await open(server.url).fails();
    expect(error).toMatchObject({ status: 404 });
    expect(everythingOf(error)).not.toContain(CANARY);
  });

  test.each(['<html></html>', 'not found', '"not found"', '404', '', '{"message":'])(
    'a 404 with %j is a RequestError',
    async (body) => {
      const server = await scriptedServer([answer(body, { status: 404 })]);
      expect(await open(server.url).fails()).toMatchObject({ status: 404 });
    },
  );

  test.each([401, 403])('%i is a RefusedError', async (status) => {
    const server = await scriptedServer([answer(`{"error":"bad key ${CANARY}"}`, { status })]);
    const error = await open(server.url).fails();
    expect(error).toBeInstanceOf(RefusedError);
    expect(error).toMatchObject({ status, hint: expect.stringContaining('DAYWALK_API_KEY') });
    expect(error.message).toContain(`answered ${status}: "{"error":"bad key ***"}"`);
    expect(everythingOf(error)).not.toContain(CANARY);
    expect(server.heads).toHaveLength(1);
  });

  test('a 400 says what it may be, also for a single record of an old day', async () => {
    const server = await scriptedServer([answer('{"error":"not within 7 days"}', { status: 400 })]);
    const { hint } = (await open(server.url).fails()) as DaywalkError;
    expect(hint).toMatch(/page_length may be .* a filter .* too old/);
  });

  test('a 404 says how to leave out what the API does not have', async () => {
    const server = await scriptedServer([answer('<h1>Not Found</h1>', { status: 404 })]);
    expect(((await open(server.url).fails()) as DaywalkError).hint).toMatch(
      /api\.url .*if other streams can be read, and not \/api\/events, name those alone in `streams`$/,
    );
  });

  test('a 403 says how to leave out what the key may not read; a 401 is of no one stream', async () => {
    const hintOf = async (status: number) => {
      const server = await scriptedServer([answer('', { status })]);
      return (await open(server.url).fails()) as DaywalkError;
    };
    const { hint } = await hintOf(403);
    expect(hint).toContain(
      'if other streams can be read, and not /api/events, name those alone in `streams`; if it shows newer days only, set `since` later',
    );
    expect((await hintOf(401)).hint).not.toContain('streams');
  });
});

describe('a redirect (H28, S01)', () => {
  test.each([
    ['https://other.example/login?key=secret#x', 'a redirect to https://other.example'],
    ['//other.example:8443/a', 'a redirect to http://other.example:8443'],
    ['/api/events/?a=b', 'a redirect to http://127.0.0.1:PORT'],
    ['http://', 'a redirect to an unreadable address'],
    [`https://${CANARY.slice(0, 17)}.example/`, 'a redirect to https://'],
  ])('to %s is not followed and names the host only', async (location, told) => {
    const server = await scriptedServer([answer('', { status: 302, headers: { location } })]);
    const error = await open(server.url).fails();
    expect(error).toBeInstanceOf(RequestError);
    expect(error.message).toContain(told.replace('PORT', String(server.port)));
    expect(error.message).not.toMatch(/secret|login|\?|#/);
    expect(error).toMatchObject({ hint: expect.stringContaining('api.url') });
  });

  test('never reaches the other server', async () => {
    const other = await scriptedServer([emptyPage]);
    const server = await scriptedServer([
      answer('', { status: 307, headers: { location: `${other.url}/api/events` } }),
    ]);
    await open(server.url).fails();
    expect(other.connections()).toBe(0);
  });

  test('without an address says so', async () => {
    const server = await scriptedServer([answer('', { status: 302 })]);
    expect((await open(server.url).fails()).message).toContain('a redirect without an address');
  });
});

describe('the excerpt of an error', () => {
  test('is short, one line and without the key', async () => {
    const body = `Result window\r\n is \u001b[31mtoo large ${CANARY} ${'x'.repeat(50_000)}`;
    const server = await scriptedServer([answer(body, { status: 400 })]);
    const { message } = await open(server.url).fails();
    expect(message).toMatch(/answered 400: "Result window is \[31mtoo large \*\*\* x+…"$/);
    expect(message.length).toBeLessThan(320);
  });

  test('is not needed: a body that breaks off leaves the status', async () => {
    const server = await scriptedServer([
      ({ socket }) => socket.end('HTTP/1.1 404 Not\r\nContent-Length: 100\r\n\r\nnothing here'),
    ]);
    const error = await open(server.url).fails();
    expect(error).toMatchObject({ status: 404 });
    expect(error.message).toContain('nothing here');
  });
});

describe('what may pass by itself', () => {
  test.each([408, 425, 429, 500, 501, 502, 503, 504, 599])('%i is tried again', async (status) => {
    const server = await scriptedServer([answer('busy', { status }), emptyPage]);
    const { fetch, retries } = open(server.url);
    expect(await fetch()).toMatchObject({ requests: 2 });
    expect(retries).toEqual([`answered ${status}: "busy"`]);
  });

  test('ends in UnavailableError with the last answer as its cause', async () => {
    const server = await scriptedServer([answer('', { status: 503 })]);
    const error = await open(server.url).fails();
    expect(error).toBeInstanceOf(UnavailableError);
    expect(error.message).toBe(
      `${server.url}/api/events (start 0, length 50): gave up after ${server.heads.length} attempts in 315 s; the last: answered 503`,
    );
    expect(error).toMatchObject({ part: 'api', cause: { status: 503 } });
  });
});

describe('a 200 that is no page (B01, B04, B08, B10)', () => {
  test.each([
    ['an HTML page', '  <!DOCTYPE html><title>Log in</title>', 'looks like an HTML page: '],
    ['nothing', '', 'an empty body'],
    ['white space', ' \r\n\t', 'an empty body'],
    ['a byte order mark', '\ufeff', 'an empty body'],
    ['text', 'OK', 'a body that is not a JSON object or list: "OK"'],
    ['a prefix against hijacking', ")]}',\n[]", 'not a JSON object or list'],
    ['gzip that does not say so', Buffer.from('1f8b0800', 'hex'), 'gzip, without saying so'],
    ['half an object', '{"data":[{"a":1}]', 'JSON that is not complete: 17 bytes'],
    ['half a list', '[{"a":1}', 'not complete'],
  ])('%s is an EnvelopeError', async (_, body, told) => {
    const server = await scriptedServer([answer(body)]);
    const error = await open(server.url).fails();
    expect(error).toBeInstanceOf(EnvelopeError);
    expect(error.message).toContain(told);
    expect(error.message).toContain(`${server.url}/api/events`);
    expect(server.heads).toHaveLength(1);
  });

  test('the key is not shown when a login page echoes it', async () => {
    const server = await scriptedServer([answer(`<p>no such key: ${CANARY}</p>`)]);
    expect(everythingOf(await open(server.url).fails())).not.toContain(CANARY);
  });

  test.each([
    ['a byte order mark', '\ufeff{"data":[]}\n'],
    ['a bare list', '[]'],
    ['null, which may be how a list without records is spelled', ' null\n'],
    ['broken UTF-8', Buffer.from('{"a":"\xff"}', 'latin1')],
  ])('but %s is left as it came', async (_, body) => {
    const server = await scriptedServer([
      answer(body, { headers: { 'content-type': 'text/plain' } }),
    ]);
    const page = await open(server.url).fetch();
    expect(page.body).toEqual(Buffer.from(body as string));
  });
});
