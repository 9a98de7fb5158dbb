/** The served archive's arithmetic: where an offset lies, what a query asks for, which seconds of a day. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { locate } from '../../src/archive/counts.ts';
import { pieceOf, readQuery } from '../../src/archive/query.ts';
import { FILTER_NAMES } from '../../src/model.ts';
import { pageTarget } from '../../src/source/request.ts';

test('an offset is found on the pages that hold it, and on no others', () => {
  const counts = fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 30 });
  fc.assert(
    fc.property(counts, fc.nat(200), fc.integer({ min: 1, max: 50 }), (sizes, offset, count) => {
      const pages = sizes.map((records, pageNo) => ({
        walkId: 1,
        pageNo,
        records,
        seen: records,
        undecided: 0,
        timeless: 0,
      }));
      const end = sizes.reduce((sum, size) => sum + size, 0);
      const list = sizes.flatMap((size, pageNo) =>
        Array.from({ length: size }, (_, at) => ({ pageNo, at })),
      );
      const found = locate(pages, offset, count);
      const read = found.pages.flatMap(({ pageNo }) =>
        list.filter((record) => record.pageNo === pageNo),
      );
      const wanted = list.slice(offset, offset + count);
      if (offset < end) expect(read.slice(found.skip, found.skip + count)).toEqual(wanted);
      // Not a page more than the records asked for lie on.
      const needed = new Set(wanted.map(({ pageNo }) => pageNo));
      if (offset < end) expect(found.pages.map(({ pageNo }) => pageNo)).toEqual([...needed]);
    }),
  );
});

describe('a query', () => {
  test('that daywalk itself writes is read back, whatever its filters hold', () => {
    const text = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
      .filter((value) => !value.includes('\0'));
    const filters = fc.dictionary(
      fc.constantFrom(...FILTER_NAMES.filter((name) => name !== 'hideread')),
      text,
    );
    fc.assert(
      fc.property(
        filters,
        fc.nat(1e9),
        fc.integer({ min: 1, max: 10_000 }),
        (given, start, length) => {
          const asked = {
            start,
            length,
            from: '2026-03-01 00:00:00',
            to: '2026-03-01 23:59:59',
            filters: given,
          };
          const query = pageTarget('', { resource: 'events', ...asked }).split('?')[1] ?? '';
          expect(readQuery(query)).toEqual(asked);
        },
      ),
    );
  });

  test('tells everything that is wrong with it at once', () => {
    const problems = (query: string) => {
      try {
        readQuery(query);
        return [];
      } catch (error) {
        return String((error as Error).message).split('; ');
      }
    };
    expect(
      problems(
        'start=x&length=10001&fromDate=2026-02-29 00:00:00&toDate=2026-03-01 24:00:00&agent=1&agent=2&new=1',
      ),
    ).toEqual([
      'agent: is there twice',
      'new: there is no such parameter',
      'start: a whole number from 0 on is expected',
      'fromDate: YYYY-MM-DD HH:MM:SS is expected',
      'toDate: YYYY-MM-DD HH:MM:SS is expected',
      'length: the largest is 10000',
    ]);
    expect(problems('search=%E0%A4')).toEqual(['the query holds a broken percent sequence']);
    const day = 'fromDate=2026-03-01 00:00:00&toDate=2026-03-01 23:59:59';
    expect(problems(`${day}&search=${'\\'.repeat(1_001)}`)).toEqual([
      'search: is longer than 1000 letters',
    ]);
    expect(problems(`${day}&agent=a&%61gent=b`)).toEqual(['agent: is there twice']);
    const reaching = (from: string, to: string) =>
      problems(`fromDate=${from} 00:00:00&toDate=${to} 23:59:59`);
    expect(reaching('2016-01-01', '2026-12-13')).toEqual([]);
    expect(reaching('2016-01-01', '2026-12-14')).toEqual([
      'toDate: a request may reach over 4000 days at most',
    ]);
    expect(reaching('9999-12-31', '9999-12-31')).toEqual([]);
  });

  test('holds a question mark as it holds any other letter', () => {
    const day = 'fromDate=2026-03-01 00:00:00&toDate=2026-03-01 23:59:59';
    expect(readQuery(`${day}&manager=?&agent=nobody?`).filters).toEqual({
      manager: '?',
      agent: 'nobody?',
    });
  });
});

test('the seconds of a day that are asked for', () => {
  const asked = {
    start: 0,
    length: 1,
    filters: {},
    from: '2026-03-01 06:00:00',
    to: '2026-03-03 00:00:00',
  };
  expect(pieceOf(asked, '2026-03-01')).toEqual({
    from: '2026-03-01 06:00:00',
    to: '2026-03-01 23:59:59',
  });
  expect(pieceOf(asked, '2026-03-02')).toBeNull();
  expect(pieceOf(asked, '2026-03-03')).toEqual({
    from: '2026-03-03 00:00:00',
    to: '2026-03-03 00:00:00',
  });
});
