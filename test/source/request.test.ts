/** The request for a page is the contract's, byte for byte. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FILTER_NAMES } from '../../src/model.ts';
import { parseBase } from '../../src/source/address.ts';
import { pageHeaders, pageTarget, percentEncode } from '../../src/source/request.ts';
import { firstPage, open } from './open.ts';
import { emptyPage, scriptedServer } from './scripted-server.ts';

const REFERENCE =
  '/api/events?start=0&length=50&search=&agent=&rule_level=&fromDate=2026-03-01%2000%3A00%3A00&toDate=2026-03-01%2023%3A59%3A59&filters=&manager=&manager_tags=&rule_mitre_technique=&rule_mitre_tactic=&rule_level_from=&rule_level_to=&organization=&agent_tags=&hideread=0&detection_type=';

describe('the target', () => {
  test('is the reference request of the contract', () => {
    expect(pageTarget('', firstPage)).toBe(REFERENCE);
  });

  test.each(['https://soc.example/tenant-7', 'https://soc.example/tenant-7/'])(
    'keeps the path prefix of %s',
    (base) =>
      expect(pageTarget(parseBase(base, false).prefix, firstPage)).toBe(`/tenant-7${REFERENCE}`),
  );

  test('percent-encodes what encodeURIComponent leaves alone', () => {
    expect(percentEncode("a b+c:d!'()*~-._é\ud800")).toBe(
      'a%20b%2Bc%3Ad%21%27%28%29%2A~-._%C3%A9%EF%BF%BD',
    );
  });

  test('sends every filter under its own name, whatever it holds', () => {
    const filters = fc.record(
      Object.fromEntries(FILTER_NAMES.map((name) => [name, fc.string({ unit: 'grapheme' })])),
    );
    fc.assert(
      fc.property(
        filters,
        fc.nat(),
        fc.integer({ min: 1, max: 10_000 }),
        (given, start, length) => {
          const target = pageTarget('/x', {
            ...firstPage,
            filters: given,
            start,
            length,
          });
          expect(target).toMatch(/^\/x\/api\/events\?([A-Za-z0-9._~=&-]|%[0-9A-F]{2})*$/);
          const pairs = target
            .slice(target.indexOf('?') + 1)
            .split('&')
            .map((pair) => pair.split('=').map(decodeURIComponent));
          expect(pairs).toHaveLength(18);
          const sent = Object.fromEntries(pairs);
          expect(sent).toMatchObject({ start: `${start}`, length: `${length}`, ...given });
        },
      ),
    );
  });
});

describe('on the wire', () => {
  test.each([
    { gzip: true, more: 'Accept-Encoding: gzip\r\n' },
    { gzip: false, more: '' },
  ])('request line and headers are exactly these (gzip: $gzip)', async ({ gzip, more }) => {
    const server = await scriptedServer([emptyPage]);
    const { fetch } = open(`${server.url}/tenant-7/`, { key: 'key-8765', gzip });
    await fetch();
    expect(server.heads).toEqual([
      `GET /tenant-7${REFERENCE} HTTP/1.1\r\nhost: 127.0.0.1:${server.port}\r\nconnection: keep-alive\r\nX-API-Key: key-8765\r\nContent-Type: application/json\r\nAccept: application/json\r\n${more}`.trimEnd(),
    ]);
  });

  test('the other resource has a path of its own', async () => {
    const server = await scriptedServer([emptyPage]);
    const { fetch } = open(server.url);
    await fetch({ resource: 'smart-event', filters: { hideread: '1', search: "x' or 1" } });
    expect(server.heads[0]).toMatch(
      /^GET \/api\/smart-event\?start=0&.*search=x%27%20or%201&.*hideread=1&/,
    );
  });

  test('the contract headers come in its order', () => {
    expect(Object.keys(pageHeaders('k', true))).toEqual([
      'X-API-Key',
      'Content-Type',
      'Accept',
      'Accept-Encoding',
    ]);
  });
});
