/** What is not the record: row numbers, scores and ages are found, and two events are never taken for one. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isPart, type Records, spelled } from '../../src/walk/rules/places.ts';
import {
  believed,
  differenceOf,
  differencesOf,
  inAll,
  inAllAnew,
  inAllOrOneRow,
  inMost,
  inSome,
  tellsItself,
} from '../../src/walk/rules/volatile.ts';

const paths = (ones: Records, others: Records) => believed([differenceOf([ones], [others])], inAll);
const since = (before: Records, now: Records) =>
  believed([differenceOf([before], [now])], inAllOrOneRow);
const running = (versions: readonly Records[], idPath?: readonly string[]) =>
  believed(differencesOf(versions), inSome(idPath));
const twice = (versions: readonly Records[]) => believed(differencesOf(versions), inMost);

describe('found', () => {
  it.each<[string, unknown[], unknown[], string[]]>([
    [
      'a row number',
      [
        { id: 'e1', row: 1 },
        { id: 'e2', row: 2 },
      ],
      [
        { id: 'e1', row: 8 },
        { id: 'e2', row: 9 },
      ],
      ['/row'],
    ],
    [
      'a row number beside real twins',
      [
        { id: 'e1', row: 1 },
        { id: 'e1', row: 2 },
        { id: 'e2', row: 3 },
      ],
      [
        { id: 'e1', row: 8 },
        { id: 'e1', row: 9 },
        { id: 'e2', row: 10 },
      ],
      ['/row'],
    ],
    [
      'a score within, and a key that comes and goes',
      [
        { id: 'e1', meta: { score: 0.5 }, hit: 1 },
        { id: 'e2', meta: { score: 0.4 }, hit: 1 },
      ],
      [
        { id: 'e1', meta: { score: 0.7 } },
        { id: 'e2', meta: { score: 0.6 } },
      ],
      ['/hit', '/meta/score'],
    ],
    [
      'a value in a list',
      [
        { id: 'e1', a: ['x', 1] },
        { id: 'e2', a: ['x', 2] },
      ],
      [
        { id: 'e1', a: ['x', 3] },
        { id: 'e2', a: ['x', 4] },
      ],
      ['/a/1'],
    ],
    [
      'a key with a slash',
      [
        { id: 'e1', 'a/b~c': 1 },
        { id: 'e2', 'a/b~c': 1 },
      ],
      [
        { id: 'e1', 'a/b~c': 2 },
        { id: 'e2', 'a/b~c': 2 },
      ],
      ['/a~1b~0c'],
    ],
    [
      'an age, which may stand still',
      [
        { id: 'e1', seen: '59 minutes ago' },
        { id: 'e2', seen: '2 days ago' },
        { id: 'e3', seen: 'just now' },
      ],
      [
        { id: 'e1', seen: 'an hour ago' },
        { id: 'e2', seen: '2 days ago' },
        { id: 'e3', seen: '1 minute ago' },
      ],
      ['/seen'],
    ],
    [
      'an age of one record alone, or of twins: its text tells what it is',
      [
        { id: 'e1', seen: '2 minutes ago' },
        { id: 'e1', seen: '2 minutes ago' },
      ],
      [
        { id: 'e1', seen: '62 minutes ago' },
        { id: 'e1', seen: '62 minutes ago' },
      ],
      ['/seen'],
    ],
    ['nothing, where nothing differs', [{ id: 1 }, { id: 2 }], [{ id: 1 }, { id: 2 }], []],
    ['nothing in no records', [], [], []],
  ])('%s', (_, ones, others, found) => expect(paths(ones, others)).toEqual(found));
});

describe('not found', () => {
  it.each<[string, unknown[], unknown[]]>([
    ['one record only: it may be another one', [{ id: 'e1', row: 1 }], [{ id: 'e1', row: 2 }]],
    [
      'twins only',
      [
        { a: 1, n: 1 },
        { a: 1, n: 1 },
      ],
      [
        { a: 1, n: 2 },
        { a: 1, n: 2 },
      ],
    ],
    [
      'one record edited',
      [
        { id: 'e1', read: false },
        { id: 'e2', read: false },
      ],
      [
        { id: 'e1', read: true },
        { id: 'e2', read: false },
      ],
    ],
    [
      'two of three records edited',
      [
        { id: 'e1', read: false },
        { id: 'e2', read: false },
        { id: 'e3', read: false },
      ],
      [
        { id: 'e1', read: true },
        { id: 'e2', read: true },
        { id: 'e3', read: false },
      ],
    ],
    [
      'one record replaced',
      [
        { id: 'e1', t: 'a' },
        { id: 'e2', t: 'b' },
      ],
      [
        { id: 'e1', t: 'a' },
        { id: 'e3', t: 'b' },
      ],
    ],
    [
      'other places in each',
      [
        { id: 'e1', a: 1 },
        { id: 'e2', b: 1 },
      ],
      [
        { id: 'e1', a: 2 },
        { id: 'e2', b: 2 },
      ],
    ],
    [
      'an age beside an event replaced',
      [
        { id: 'e1', t: '1 h' },
        { id: 'e2', t: '1 h' },
      ],
      [
        { id: 'e1', t: '2 h' },
        { id: 'e3', t: '2 h' },
      ],
    ],
    [
      'other events of one template under the same row numbers',
      [
        { id: 'e1', rule: 5, row: 1 },
        { id: 'e2', rule: 5, row: 2 },
        { id: 'e3', rule: 5, row: 3 },
      ],
      [
        { id: 'e7', rule: 5, row: 1 },
        { id: 'e8', rule: 5, row: 2 },
        { id: 'e9', rule: 5, row: 3 },
      ],
    ],
    [
      'other events under the same row numbers, counted down as texts in an object',
      [
        { id: 'e1', meta: { row: '2' } },
        { id: 'e2', meta: { row: '1' } },
      ],
      [
        { id: 'e7', meta: { row: '2' } },
        { id: 'e8', meta: { row: '1' } },
      ],
    ],
    [
      'numbers of the events that count through them, also through twins',
      [
        { n: 101, t: 'a' },
        { n: 102, t: 'a' },
        { n: 103, t: 'b' },
      ],
      [
        { n: 111, t: 'a' },
        { n: 112, t: 'a' },
        { n: 113, t: 'b' },
      ],
    ],
    [
      'other events of the same templates under the same row numbers, some of them alike',
      [
        { at: '10:00', rule: 5, row: 1 },
        { at: '10:00', rule: 6, row: 2 },
        { at: '10:00', rule: 5, row: 3 },
      ],
      [
        { at: '10:01', rule: 5, row: 1 },
        { at: '10:01', rule: 6, row: 2 },
        { at: '10:01', rule: 5, row: 3 },
      ],
    ],
    [
      'twins instead of two events of one template',
      [
        { id: 'e1', t: 'a' },
        { id: 'e2', t: 'a' },
        { id: 'e3', t: 'b' },
      ],
      [
        { id: 'e7', t: 'a' },
        { id: 'e7', t: 'a' },
        { id: 'e8', t: 'b' },
      ],
    ],
    [
      'two events of one template instead of twins',
      [
        { id: 'e7', t: 'a' },
        { id: 'e7', t: 'a' },
        { id: 'e8', t: 'b' },
      ],
      [
        { id: 'e1', t: 'a' },
        { id: 'e2', t: 'a' },
        { id: 'e3', t: 'b' },
      ],
    ],
    ['values instead of records', [1, 2], [3, 4]],
    ['a record that is no object any more', [{ id: 1 }, { id: 2 }], [1, 2]],
  ])('%s', (_, ones, others) => expect(paths(ones, others)).toEqual([]));
});

const event = fc.record({
  template: fc.constantFrom('login', 'logout', 'sudo'),
  host: fc.constantFrom('a', 'b'),
  time: fc.integer({ min: 0, max: 50 }),
});

it('two events are never taken for one: a list in another order, or moved, shows nothing', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(event, {
        minLength: 3,
        maxLength: 12,
        selector: (one) => JSON.stringify(one),
      }),
      fc.nat(),
      fc.infiniteStream(fc.nat()),
      (list, by, dice) => {
        const moved = [...list.slice(1 + (by % (list.length - 1))), ...list].slice(0, list.length);
        expect(paths(list, moved)).toEqual([]);
        const order = [...list].sort(() => ((dice.next().value as number) % 2) - 0.5);
        fc.pre(JSON.stringify(order) !== JSON.stringify(list));
        expect(paths(list, order)).toEqual([]);
        // Page for page of a list that has moved by fewer records than a page holds.
        const shift = 1 + (by % (list.length - 1));
        const [ones, others] = [list.slice(0, -shift), list.slice(shift)];
        if (shift < ones.length) expect(paths(ones, others)).toEqual([]);
      },
    ),
    { numRuns: 500 },
  );
});

it('what is added to each record and differs each time is found, wherever it stands', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(event, { minLength: 2, maxLength: 8, selector: (one) => JSON.stringify(one) }),
      fc.uniqueArray(fc.constantFrom('row', 'score', 'a/b', '~'), { minLength: 1 }),
      fc.boolean(),
      (list, keys, within) => {
        const version = (number: number) =>
          list.map((one, index) => {
            const noise = Object.fromEntries(keys.map((key) => [key, number * 1000 + index]));
            // Times may happen to count as rows do, names do not.
            const named = { ...one, name: `e${index}` };
            return within ? { ...named, meta: noise } : { ...named, ...noise };
          });
        const found = keys.map((key) => {
          const step = key.replaceAll('~', '~0').replaceAll('/', '~1');
          return within ? `/meta/${step}` : `/${step}`;
        });
        expect(paths(version(1), version(2))).toEqual(found.sort());
      },
    ),
  );
});

it('the order within lists is the record, unless it is known not to be', () => {
  const areSame = (ones: Records, others: Records, ignored: readonly string[]) =>
    isPart(ones, others, (record) => spelled(record, new Set(ignored)));
  const one = [{ id: 1, tags: ['pci', { a: [1, 2] }, 'gdpr'] }];
  const other = [{ id: 1, tags: ['gdpr', 'pci', { a: [2, 1] }] }];
  expect(areSame(one, other, [])).toBe(false);
  expect(areSame(one, other, ['[]'])).toBe(true);
  expect(areSame([{ a: [1, 1, 2] }], [{ a: [1, 2, 2] }], ['[]'])).toBe(false);
  expect(areSame([{ a: [1, 2], n: 1 }], [{ a: [2, 1], n: 2 }], ['[]', '/n'])).toBe(true);
});

describe('of several records, or of one that is identified', () => {
  const open = (s: number) => [
    { key: 1, kind: 'a', left: s, age: -s },
    { key: 2, kind: 'b' },
    { key: 3, kind: 'c', left: s + 9, age: 9 - s },
  ];
  const lists = [1, 2, 3].map(open);
  it('several places that differ each time are found', () => {
    expect(running(lists)).toEqual(['/age', '/left']);
    expect(running(lists.map((list) => list.slice(1)))).toEqual([]);
    expect(
      running(
        lists.map((list) => list.slice(1)),
        ['key'],
      ),
    ).toEqual(['/age', '/left']);
    expect(
      running(
        lists.map((list) => list.slice(1)),
        ['uuid'],
      ),
    ).toEqual([]);
  });

  it('what comes back, in one of them, is none', () => {
    expect(running([...lists.slice(0, 2), open(1)], ['key'])).toEqual([]);
  });

  it('other records are none', () => {
    const others = [1, 2, 3].map((n) => [
      { id: 9, k: 'x' },
      { id: n, k: 'a' },
      { id: n + 3, k: 'a' },
    ]);
    expect(running(others)).toEqual([]);
    expect(running(others, ['key'])).toEqual([]);
  });
});

describe('of one record alone', () => {
  it.each<[string, unknown[][], string | null]>([
    [
      'what differs each time is found',
      [[{ id: 1, s: 1 }], [{ id: 1, s: 2 }], [{ id: 1, s: 3 }]],
      '/s',
    ],
    [
      'what differs each time is found within',
      [1, 2, 3].map((s) => [{ _index: 'events', _source: { id: 1, 'the score': s } }]),
      '/_source/the score',
    ],
    ['another record is none', [[{ id: 1 }], ['two'], [3]], null],
    ['what comes back is none', [[{ id: 1, s: 1 }], [{ id: 1, s: 2 }], [{ id: 1, s: 1 }]], null],
    [
      'two places may be another record',
      [[{ id: 1, s: 1 }], [{ id: 2, s: 2 }], [{ id: 3, s: 3 }]],
      null,
    ],
    ['one more is none', [[{ id: 1 }], [{ id: 2 }, { id: 3 }], [{ id: 4 }]], null],
    [
      'what differs in it alone, beside others that have no such value or stand, is found',
      [1, 2, 3].map((s) => [{ id: 1, s: 0 }, { id: 2 }, { id: 3, s }]),
      '/s',
    ],
    [
      'what tells it apart from another one is none',
      [1, 2, 3].map((s) => [
        { a: 1, s },
        { a: 1, s: 9 },
      ]),
      null,
    ],
  ])('%s', (_, answers, place) => expect(running(answers)).toEqual(place === null ? [] : [place]));
});

describe('records that came in another order than before', () => {
  const aged = (ages: readonly string[]) => ages.map((t, index) => ({ id: `e${index}`, t }));
  const numbered = (ids: readonly string[]) => ids.map((id, index) => ({ row: index + 1, id }));

  it('have come to differ in an age, which may stand still', () => {
    const now = aged(['2 hours ago', '1 day ago', '64 minutes ago']).reverse();
    expect(since(aged(['1 hour ago', '1 day ago', '3 minutes ago']), now)).toEqual(['/t']);
  });

  it('have come to differ in an age, where some do not come, or others do', () => {
    const before = aged(['1 hour ago', '2 hours ago', '3 minutes ago']);
    const now = aged(['2 hours ago', '3 hours ago', '64 minutes ago']);
    expect(since(before, now.slice(1))).toEqual(['/t']);
    expect(since(before, [])).toEqual([]);
    expect(since(before.slice(1), now)).toEqual(['/t']);
    expect(since([...before.slice(1), { id: 'e9', t: '1 h' }], now)).toEqual([]);
  });

  it('have come to differ in an age within', () => {
    const within = (ages: readonly string[]) =>
      aged(ages).map((_source) => ({ _index: 'x', _source }));
    const now = within(['2 hours ago', '64 minutes ago']).reverse();
    expect(since(within(['1 hour ago', '3 minutes ago']), now)).toEqual(['/_source/t']);
  });

  it('have come to differ in a score, each of them', () => {
    const [before, now] = [aged(['0.11', '0.12', '0.13']), aged(['0.21', '0.22', '0.23'])];
    expect(since(before, now.reverse())).toEqual(['/t']);
  });

  it('have come to differ in nothing, where others of the same kinds came, too', () => {
    const before = [
      { id: 12, host: 'a' },
      { id: 9, host: 'b' },
    ];
    expect(since(before, [{ id: 27, host: 'a' }, { id: 21, host: 'b' }, ...before])).toEqual([]);
    const ages = before.map((record, n) => ({ ...record, seen: `${n + 1} hours ago`, row: n + 1 }));
    const later = before.map((record, n) => ({
      ...record,
      seen: `${n + 2} hours ago`,
      row: n + 2,
    }));
    const first = { id: 27, host: 'a', seen: 'now', row: 1 };
    expect(since(ages, [first, ...later])).toEqual(['/row', '/seen']);
  });

  it('are no others, where one of them stands as it was', () => {
    const [first, second] = [
      { id: 'e1', kind: 'a', host: 'b' },
      { id: 'e2', kind: 'a', host: 'a' },
    ];
    const others = [{ id: 'e3', kind: 'c', host: 'a' }, second, { id: 'e4', kind: 'c', host: 'b' }];
    expect(paths([first, second], others)).toEqual([]);
  });

  it('have not been counted where what counts in some records stands in others, as it was', () => {
    const counted = (...hits: readonly number[]) => hits.map((n, id) => ({ id: `e${id}`, n }));
    expect(
      paths(counted(1, 2), [...counted(1, 3), { id: 'e7', n: 2 }, { id: 'e9', n: 4 }]),
    ).toEqual([]);
  });

  it.each([
    ['the first of two', numbered(['a', 'b']), numbered(['b'])],
    ['the second of three', numbered(['a', 'b', 'c']), numbered(['a', 'c'])],
    [
      'the newest, counted down',
      numbered(['a', 'b', 'c']).reverse(),
      numbered(['a', 'c']).reverse(),
    ],
  ])('have other numbers where %s is gone, or came', (_, more, fewer) => {
    expect(since(more, fewer)).toEqual(['/row']);
    expect(since(fewer, more)).toEqual(['/row']);
  });

  it.each([
    ['that is read', [{ row: 0, id: 'a' }], [{ row: 1, id: 'a' }]],
    ['that are numbered from elsewhere', numbered(['a', 'b', 'c']), [{ row: 7, id: 'c' }]],
    [
      'of two states',
      [
        { row: 0, id: 'a' },
        { row: 1, id: 'b' },
      ],
      [{ row: 1, id: 'a' }],
    ],
    ['of which the last is gone', numbered(['a', 'b', 'c']), numbered(['a', 'b'])],
    ['of which one is gone, and the other was edited', numbered(['a', 'b']), [{ row: 1, id: 'c' }]],
  ])('have no other numbers: those %s', (_, before, now) => {
    expect(since(before, now)).toEqual([]);
  });

  it.each([
    ['one was edited', aged(['open', 'open', 'closed'])],
    ['one is gone', aged(['open', 'open'])],
    ['nothing differs', aged(['open', 'open', 'open'])],
  ])('differ in no such value where %s', (_, now) => {
    expect(since(aged(['open', 'open', 'open']), now.reverse())).toEqual([]);
  });
});

describe('what a place says by itself', () => {
  const list = (...values: readonly unknown[]) => values;

  it.each([
    ['ages', list('1 hour ago', 'now'), list('2 hours ago', 'about 3 m ago')],
    ['the numbers of the rows', list(0, 1, 2), list(0, 1)],
    ['the numbers of the rows, counted down', list(3, 2, 1), list('2', '1')],
  ])('%s', (_, before, now) => expect(tellsItself([before, now])).toBe(true));

  it.each([
    ['a state', list('open', 'open'), list('closed', 'closed')],
    ['numbers of records', list(101, 102), list(1, 2)],
    ['a state of 0 or 1', list(0), list(1)],
    ['durations', list('12 s', '1 h'), list('3m', '1 h')],
    ['an age that became a word', list('1 hour ago'), list('closed')],
  ])('nothing: %s', (_, before, now) => expect(tellsItself([before, now])).toBe(false));
});

describe('records of three versions', () => {
  const version = (...seen: readonly (string | number)[]) =>
    seen.map((value, id) => ({ id: 7 + 5 * id, sender: { seen: value } }));

  it.each([
    [
      'each time, all of them',
      [
        version('1a', '1b', '1c', '1d'),
        version('2a', '2b', '2c', '2d'),
        version('3a', '3b', '3c', '3d'),
      ],
    ],
    [
      'each time, half of them',
      [11, 21, 31].map((n) => version(n, n, n, n, 1, 2, 3, 4)) as unknown as readonly [
        unknown[],
        unknown[],
        unknown[],
      ],
    ],
  ] as const)('differ %s', (_, versions) => {
    expect(twice(versions)).toEqual(['/sender/seen']);
  });

  it.each([
    ['once only', [version(1, 2, 3, 4), version(5, 6, 7, 8), version(5, 6, 7, 8)]],
    ['and are as they first were', [version(1, 2, 3, 4), version(5, 6, 7, 8), version(1, 2, 3, 4)]],
    [
      'in words',
      [
        version(...Array(4).fill('new')),
        version(...Array(4).fill('up')),
        version(...Array(4).fill('down')),
      ],
    ],
    [
      'fewer than half of them',
      [
        version(1, 2, 3, 4, 9, 9, 9, 9, 9),
        version(5, 6, 7, 8, 9, 9, 9, 9, 9),
        version(11, 12, 13, 14, 9, 9, 9, 9, 9),
      ],
    ],
    ['three of them', [version(1, 2, 3), version(4, 5, 6), version(7, 8, 9)]],
    [
      'some the first time, others later',
      [version(1, 2, 3, 4, 5), version(6, 7, 8, 9, 5), version(6, 17, 18, 19, 15)],
    ],
    [
      'in another place later',
      [
        version(1, 2, 3, 4),
        version(5, 6, 7, 8),
        [5, 6, 7, 8].map((seen, id) => ({ id: 7 + 5 * id, sender: { seen, at: 9 } })),
      ],
    ],
    [
      'in what alone tells them apart',
      [1, 11, 21].map((n) =>
        [0, 2, 5, 7].map((more) => ({ seen: n + more })),
      ) as unknown as readonly [unknown[], unknown[], unknown[]],
    ],
  ] as const)('differ %s: nothing is found', (_, versions) => {
    expect(twice(versions)).toEqual([]);
  });
});

describe('what differs in all of several records, and comes never twice', () => {
  const asked = (name: string, ...answers: readonly (readonly unknown[])[]) =>
    answers.map((values) => values.map((value, n) => ({ c: 'aab'[n], [name]: value })));
  const anew = (versions: readonly Records[], idPath?: readonly string[]) =>
    believed(differencesOf(versions), inAllAnew(idPath));

  it('is found, also where two of them are equal', () => {
    const versions = asked('score', [1, 2, 3], [4, 5, 6], [7, 8, 9]);
    expect(running(versions)).toEqual([]);
    expect(anew(versions)).toEqual(['/score']);
  });

  it.each<[string, readonly Records[], (readonly string[])?]>([
    ['where a value comes again', asked('score', [1, 2, 3], [4, 5, 1], [7, 8, 9])],
    ['where one of them stands', asked('score', [1, 2, 3], [1, 5, 6], [7, 8, 9])],
    ['of one record', asked('score', [1], [4], [7])],
    ['under the name of an identity', asked('id', [1, 2, 3], [4, 5, 6], [7, 8, 9])],
    ['where it identifies them', asked('key', [1, 2, 3], [4, 5, 6], [7, 8, 9]), ['key']],
  ])('is not, %s', (_, versions, idPath) => {
    expect(anew(versions, idPath)).toEqual([]);
  });
});
