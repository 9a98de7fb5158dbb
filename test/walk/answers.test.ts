/** What one answer says, the first and the ten-thousandth: real answers, read in Postgres, on fresh and on resumed streams. */
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { EnvelopeError, NoRecordsError, RequestError, WalkError } from '../../src/errors.ts';
import type { Page, PageRequest } from '../../src/model.ts';
import { excerpt } from '../../src/redactor.ts';
import { findContract } from '../../src/source/find-contract.ts';
import type { Database } from '../../src/store/database.ts';
import { confirmFrame, forgetContract, noteFrame } from '../../src/store/evidence/contracts.ts';
import { readHashes } from '../../src/store/evidence/evidence.ts';
import { compareProbe } from '../../src/store/evidence/probes.ts';
import { type Checkpoint, listPagesObserved, storePage } from '../../src/store/pages.ts';
import { type AnswerContext, askPage } from '../../src/walk/answers.ts';
import { StreamContract } from '../../src/walk/contract.ts';
import type { TestDatabase } from '../support/database.ts';
import { freshStore, pageOfBody, storing } from '../support/store.ts';

const SECRET = 'CANARY-k3y';
const LEASE = '00000000-0000-4000-8000-000000000001';
const R = (...ids: number[]) => ids.map((id) => ({ id }));

let server: TestDatabase;
let database: Database;
freshStore((store) => {
  ({ server, database } = store);
});

/** A stream with windows, each leased, with an open walk. */
let streamId: number;
let walks: number[];
beforeEach(async () => {
  const [stream] = await server.query<{ stream_id: number }>(
    `insert into daywalk.streams (name, resource, filters, fingerprint, since, time_zone, settle)
     values ('events', 'events', '{}', 'x', '2026-03-01', 'UTC', '0') returning stream_id`,
  );
  streamId = stream?.stream_id ?? 0;
  await server.query(`select daywalk.ensure_partition('2026-03-01')`);
  walks = [];
  for (let day = 1; day <= 4; day += 1) walks.push(await openedWalk(`2026-03-0${day}`));
});

async function openedWalk(day: string): Promise<number> {
  const [row] = await server.query<{ walk_id: string }>(
    `with made as (
       insert into daywalk.windows (stream_id, kind, day, from_time, to_time, purpose, lease_id, lease_expires)
       values ($1, 'day', $2::date, $2::date, $2::date + time '23:59:59', 'scheduled', $3, 'infinity')
       returning *
     )
     insert into daywalk.walks (window_id, number, day, from_time, to_time, page_length)
     select window_id, 1, day, from_time, to_time, 100 from made returning walk_id`,
    [streamId, day, LEASE],
  );
  await server.query(
    'update daywalk.windows w set current_walk = k.walk_id from daywalk.walks k where k.window_id = w.window_id',
  );
  return Number(row?.walk_id);
}

const windowOf = async (walkId: number): Promise<number> => {
  const [row] = await server.query('select window_id from daywalk.walks where walk_id = $1', [
    walkId,
  ]);
  return Number(row?.window_id);
};

/** A source that gives these answers, one after the other, and the last one for ever. */
interface Answering {
  readonly context: AnswerContext;
  readonly asked: PageRequest[];
}

interface Given {
  readonly body: unknown;
  readonly status?: 204 | 404;
}
const given = (body: unknown): Given => ({ body });
const empty = (status: 204 | 404, body: unknown = null): Given => ({ body, status });

async function answering(
  answers: readonly Given[],
  hints: { recordsPath?: readonly string[]; totalPath?: readonly string[] | null } = {},
  contract?: StreamContract,
): Promise<Answering> {
  const asked: PageRequest[] = [];
  const reader = {
    findContract: (body: Buffer, own?: object) => findContract(body, { ...own, secrets: [SECRET] }),
    excerpt: (content: string | Uint8Array) => excerpt(content, [SECRET]),
  };
  const fetchPage = async (request: PageRequest): Promise<Page> => {
    const answer = answers[Math.min(asked.push(request), answers.length) - 1];
    if (answer === undefined) throw new Error('nothing to answer');
    const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body);
    const page = { ...pageOfBody(request.start, text), length: request.length };
    if (answer.status === undefined) return page;
    const refused = new RequestError(answer.status, `answered ${answer.status}`);
    return { ...page, status: answer.status, refused };
  };
  return {
    asked,
    context: {
      fetchPage,
      priority: { purpose: 'scheduled' },
      signal: new AbortController().signal,
      contract: contract ?? (await StreamContract.open(database, reader, { streamId, ...hints })),
    },
  };
}

const request: PageRequest = {
  resource: 'events',
  filters: {},
  from: '2026-03-01 00:00:00',
  to: '2026-03-01 23:59:59',
  start: 0,
  length: 100,
};

/** Asks for the next page of a walk, and stores it. */
async function page(
  { context }: Answering,
  at: Partial<Checkpoint> = {},
  walk = walks[0] ?? 0,
): Promise<Awaited<ReturnType<typeof askPage<Awaited<ReturnType<typeof storePage>>>>>['facts']> {
  const checkpoint = { walkId: walk, nextStart: 0, pages: 0, skip: 0 as const, ...at };
  const lease = { windowId: await windowOf(walk), leaseId: LEASE };
  const start = checkpoint.nextStart - checkpoint.skip;
  const { facts } = await askPage(context, { ...request, start }, (answer, contract) =>
    storePage(storing(database, lease), checkpoint, answer, contract),
  );
  return facts;
}

const probe = ({ context }: Answering, start = 0, walk = walks[0] ?? 0) =>
  askPage(context, { ...request, start }, (answer, contract) =>
    compareProbe(database, { streamId, walkId: walk }, answer, contract),
  ).then(({ facts }) => facts);

const stored = async () => {
  const [row] = await server.query<{ count: number }>('select count(*)::int from daywalk.pages');
  return row?.count;
};

/** The stream has shown records: its contract is known, as a worker that begins anew finds it. */
async function shown(body: unknown, walk = 3): Promise<void> {
  await page(await answering([given(body)]), {}, walks[walk]);
}

describe('a failure in the frame of an answer with records', () => {
  it.each<[string, object]>([
    ['shards that failed', { _shards: { total: 5, successful: 4, failed: 1 } }],
    ['a status', { status: 'error' }],
    ['false', { ok: false }],
    ['an Error', { Error: 'half of the index is away' }],
    ['a message', { messages: [{ type: 'ERROR', text: 'a peer ended prematurely' }] }],
  ])('is no page, the first time and later: %s', async (_, marker) => {
    const whole = { total: 6, data: R(1, 2, 3) };
    const failing = { ...marker, total: 6, data: R(3, 4) };
    const first = await answering([given({ ...whole, ...marker })]);
    await expect(page(first)).rejects.toThrow(EnvelopeError);
    expect(first.asked).toHaveLength(3);
    expect(first.context.contract.known).toBeNull();

    const later = await answering([given(whole), given(failing)]);
    await page(later);
    await expect(page(later, { nextStart: 3, pages: 1, skip: 1 })).rejects.toThrow(EnvelopeError);
    expect(await stored()).toBe(1);
    const resumed = await answering([
      given(failing),
      given({ ...failing, total: 6 }),
      given({ total: 6, data: R(3, 4) }),
    ]);
    const facts = await page(resumed, { nextStart: 3, pages: 1, skip: 1 });
    expect(facts).toMatchObject({ records: 1, came: 2, stored: true });
    expect(resumed.asked).toHaveLength(3);
    await expect(probe(await answering([given(failing)]))).rejects.toThrow(EnvelopeError);
  });

  it('is told without the key', async () => {
    const failing = given({ data: R(1), error: `bad key ${SECRET}` });
    await expect(page(await answering([failing]))).rejects.toThrow('error: "bad key ***"');
    await shown({ data: R(1) });
    await expect(page(await answering([failing]))).rejects.toThrow('error: "bad key ***"');
  });

  it('never shows where lists are, also where no list can be told from another', async () => {
    const source = await answering([given({ errors: [{ a: 1 }], data: [], notes: [{ b: 1 }] })]);
    await expect(page(source)).rejects.toThrow('tells of a failure');
    expect(await server.query('select from daywalk.contracts')).toEqual([]);
  });
});

describe('a total that the first answers left out', () => {
  const totalPath = async () => {
    const [row] = await server.query('select total_path from daywalk.contracts');
    return row?.total_path;
  };

  it('is where an answer tells it that tells of no failure', async () => {
    await shown({ data: R(1, 2) });
    const failing = { error: 'no index', meta: { total: 3 }, data: R(3) };
    await expect(page(await answering([given(failing)]))).rejects.toThrow('tells of a failure');
    expect(await totalPath()).toBeNull();
    await probe(await answering([given({ total: 2, data: R(1, 2) })]));
    expect(await totalPath()).toEqual(['total']);
  });

  it('stays where another process found it', async () => {
    await shown({ data: R(1, 2) });
    const [one, other] = [
      await answering([given({ total: 2, data: R(1, 2) })]),
      await answering([given({ meta: { total: 2 }, data: R(1, 2) })]),
    ];
    await probe(one);
    expect(await probe(other)).toMatchObject({ total: null });
    expect(await totalPath()).toEqual(['total']);
  });
});

describe('an answer of another shape', () => {
  it('is no empty day where a code tells of the failure', async () => {
    await shown({ result: { rows: R(1, 2), total: 2 } });
    const outage = { message: 'search backend unavailable', code: 503, data: [] };
    await expect(page(await answering([given(outage)]))).rejects.toThrow(EnvelopeError);
    const facts = await page(await answering([given({ ...outage, code: undefined })]));
    expect(facts).toMatchObject({ came: 0, stored: false, frame: { known: false, plain: false } });
    expect(await stored()).toBe(1);
  });

  it('is not known to be empty where the total is missing that every answer carried', async () => {
    await shown({ draw: 1, recordsFiltered: 2, data: R(1, 2) });
    const facts = await page(await answering([given({ draw: 1, data: [] })]));
    expect(facts).toMatchObject({ came: 0, stored: false, frame: { known: false, plain: false } });
  });

  it.each<[object]>([
    [{ items: R(1) }],
    [{ data: null, rows: R(1), other: R(2) }],
    [{ data: { a: 1 } }],
  ])('is refused where another list may be that of the records: %j', async (body) => {
    await shown({ data: R(1, 2) });
    await expect(page(await answering([given(body)]))).rejects.toMatchObject({
      name: 'EnvelopeError',
      hint: expect.stringContaining('daywalk accept'),
    });
    expect(await stored()).toBe(1);
  });

  it.each<[object, object]>([
    [
      { data: R(1, 2), archived: [] },
      { data: [], archived: R(3) },
    ],
    [{ result: { data: R(1, 2) } }, { result: { data: [] }, cold: { data: R(3) } }],
    [R(1, 2), { id: 3 }],
  ])('is refused where a record stands elsewhere: %j, %j', async (before, body) => {
    await shown(before);
    await expect(page(await answering([given(body)]))).rejects.toMatchObject({
      name: 'EnvelopeError',
      message: expect.stringContaining('where the record list was'),
    });
    expect(await stored()).toBe(1);
  });

  it.each<[unknown]>([[[null]], [['no events']], [[[]]], [[{ id: 1 }, null]]])(
    'is refused where its list holds what is no record, the first time and later: %j',
    async (data) => {
      const source = () => answering([given({ data })]);
      await expect(page(await source())).rejects.toThrow(EnvelopeError);
      await shown({ data: R(1, 2) });
      await expect(page(await source())).rejects.toThrow(EnvelopeError);
      await expect(probe(await source())).rejects.toThrow(EnvelopeError);
      expect(await stored()).toBe(1);
    },
  );

  it.each<[object, object]>([
    [
      { data: R(1, 2), facets: [{ name: 'a' }] },
      { data: [], facets: [{ name: 'a' }] },
    ],
    [
      { data: R(1), warnings: [] },
      { data: [], warnings: [{ text: 'nothing found' }] },
    ],
    [R(1, 2), { message: 'no events' }],
  ])('is empty beside what is no record: %j, %j', async (before, body) => {
    await shown(before);
    expect(await page(await answering([given(body)]))).toMatchObject({ came: 0 });
  });

  it('may lack or add keys where it has records', async () => {
    await shown({ total: 5, next: 'x', data: R(1, 2) });
    const facts = await page(await answering([given({ total: 5, notice: 'new', data: R(1, 2) })]));
    expect(facts).toMatchObject({ stored: true, frame: null });
  });
});

describe('an answer without records', () => {
  it('is known at once where answers with records have its frame', async () => {
    await shown({ total: 5, data: R(1, 2) });
    const source = await answering([given({ total: 0, data: [] })]);
    expect(await page(source)).toMatchObject({
      came: 0,
      total: 0,
      stored: true,
      frame: { known: true, plain: true, reason: null },
    });
    expect(source.asked).toHaveLength(1);
    expect(await probe(source, 0, walks[1])).toMatchObject({ frame: { known: true } });
  });

  it('is one where pages with records carry its code, too, and only then', async () => {
    const empty = given({ code: 10000, msg: 'success', data: [] });
    await expect(page(await answering([empty]))).rejects.toThrow(EnvelopeError);
    await shown({ code: 10000, msg: 'success', data: R(1) });
    expect(await page(await answering([empty]))).toMatchObject({ came: 0, stored: true });
    for (const other of [{ code: 1042 }, { msg: 'no backend' }, { failed: 1 }, { code: 503 }]) {
      const failing = given({ code: 10000, msg: 'success', ...other, data: [] });
      await expect(page(await answering([failing]), {}, walks[1])).rejects.toThrow(EnvelopeError);
    }
  });

  it('is known by the last page of a walk, too: it has no link to a next one', async () => {
    const source = await answering([
      given({ data: R(1, 2), next: 'there' }),
      given({ data: R(3) }),
      given({ data: [] }),
    ]);
    await page(source);
    await page(source, { nextStart: 2, pages: 1 });
    expect(await page(source, {}, walks[1])).toMatchObject({
      stored: true,
      frame: { known: true },
    });
  });

  const ways: [string, Given][] = [
    ['null for list and total', given({ total: null, data: null })],
    ['a message', given({ message: 'no events', data: [] })],
    ['no list', given({ message: 'no events' })],
    ['null and nothing else', given(null)],
    ['a 204', empty(204)],
    ['a 404 in JSON', empty(404, { error: 'Not Found', status: 404 })],
  ];
  it.each(ways)(
    'is not known in a new frame, until its window was looked at: %s',
    async (_, way) => {
      await shown({ total: 5, data: R(1, 2) });
      const source = await answering([way]);
      const facts = await page(source);
      expect(facts).toMatchObject({ came: 0, records: 0, stored: false, frame: { known: false } });
      const { signature = '', example = '' } = facts.frame ?? {};
      const [walk = 0] = walks;

      await noteFrame(database, streamId, signature, example);
      expect((await page(source)).frame?.known).toBe(false);
      expect(await page(source, { believes: 'another' })).toMatchObject({ stored: false });
      expect(await confirmFrame(database, await windowOf(walk), signature)).toBe(false);
      expect(await page(source, { believes: signature })).toMatchObject({ stored: true });
      expect(await listPagesObserved(database, walk)).toMatchObject([
        { records: 0, claim: { came: 0 } },
      ]);
      expect((await probe(source, 0, walks[1])).frame?.known).toBe(false);

      await server.query(
        `update daywalk.walks set outcome = 'proven', proof = '{}', finished_at = now() where walk_id = $1`,
        [walk],
      );
      expect(await confirmFrame(database, await windowOf(walk), 'another')).toBe(false);
      expect(await confirmFrame(database, await windowOf(walk), signature)).toBe(true);
      expect((await probe(source, 0, walks[1])).frame?.known).toBe(true);
      expect(await page(await answering([way]), {}, walks[2])).toMatchObject({ stored: true });
    },
  );

  it('waits on a stream that has shown no record, with the reason for which it would be refused', async () => {
    for (const [, way] of ways.slice(2)) {
      const facts = await page(await answering([way]));
      expect(facts).toMatchObject({
        came: 0,
        stored: false,
        frame: { known: false, plain: false },
      });
      expect(facts.frame?.reason).toBeInstanceOf(way.status ? RequestError : NoRecordsError);
    }
    const plain = await page(await answering([given({ total: 0, data: [] })]));
    expect(plain.frame).toMatchObject({ known: false, plain: true, reason: null });
    expect(await server.query('select from daywalk.contracts')).toEqual([]);
  });

  it('is known by its look on a stream that has shown no record, too', async () => {
    const source = await answering([given({ total: 0, data: [] })]);
    const { frame } = await page(source);
    const [walk = 0] = walks;
    expect(await page(source, { believes: frame?.signature ?? '' })).toMatchObject({
      stored: true,
    });
    await server.query(
      `update daywalk.walks set outcome = 'proven', proof = '{}', finished_at = now() where walk_id = $1`,
      [walk],
    );
    expect(await confirmFrame(database, await windowOf(walk), frame?.signature ?? '')).toBe(true);
    expect((await probe(source, 0, walks[1])).frame?.known).toBe(true);
  });

  it('in a frame that no other answer has is never known', async () => {
    await shown({ total: 5, note: 'fine', data: R(1, 2) });
    const word = fc.constantFrom('fine', 'away', 'x', 'no events', '');
    const frame = fc.record(
      {
        total: fc.constantFrom(0, '0', null),
        note: word,
        msg: word,
        took: fc.nat(),
        data: fc.constantFrom([], null),
      },
      { noNullPrototype: true, requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(frame, async (body) => {
        const facts = await probe(await answering([given(body)]));
        const good =
          Object.keys(body).length === 3 &&
          body.note === 'fine' &&
          Array.isArray(body.data) &&
          body.total != null;
        expect(facts.frame?.known).toBe(good);
      }),
      { numRuns: 60 },
    );
  });

  it('is refused where a 404 or a 204 has records all the same', async () => {
    await shown({ data: R(1) });
    await expect(page(await answering([empty(404, { data: R(1) })]))).rejects.toThrow(
      'answered 404',
    );
    expect(await stored()).toBe(1);
  });

  it('brings nothing new behind the last record: it is looked at, and not stored', async () => {
    const source = await answering([given({ data: R(1, 2) }), given({ data: R(2) })]);
    await page(source);
    const facts = await page(source, { nextStart: 2, pages: 1, skip: 1 });
    expect(facts).toMatchObject({ records: 0, came: 1, continues: true, stored: false });
    expect(await stored()).toBe(1);
  });
});

describe('the total', () => {
  it('is missed where answers with records tell it, on first and on later pages apart', async () => {
    const once = await answering([given({ total: 3, data: R(1, 2) }), given({ data: R(2, 3) })]);
    expect(await page(once)).toMatchObject({ total: 3, totalMissing: false });
    const next = { nextStart: 2, pages: 1, skip: 1 } as const;
    expect(await page(once, next)).toMatchObject({ total: null, totalMissing: false });
    expect(await page(await answering([given({ data: R(1) })]), {}, walks[1])).toMatchObject({
      total: null,
      totalMissing: true,
      stored: true,
    });
    const seen = await listPagesObserved(database, walks[1] ?? 0);
    expect(seen).toMatchObject([{ claim: { start: 0, came: 1, total: null, totalMissing: true } }]);
  });

  it('is missed on later pages where they have told it', async () => {
    await shown({ total: 3, data: R(1, 2) });
    const source = await answering([given({ total: 3, data: R(2, 3) }), given({ data: R(2) })]);
    expect(await probe(source, 100)).toMatchObject({ totalMissing: false });
    expect(await probe(source, 100)).toMatchObject({ totalMissing: true });
  });

  it('may be a text, and a lower bound', async () => {
    const total = { value: '5', relation: 'gte' };
    const facts = await page(await answering([given({ total, data: R(1), has_more: true })]));
    expect(facts).toMatchObject({ total: 5, lowerBound: true, more: true });
    const [seen] = await listPagesObserved(database, walks[0] ?? 0);
    expect(seen?.claim).toEqual({
      start: 0,
      length: 100,
      came: 1,
      total: 5,
      lowerBound: true,
      totalMissing: false,
      more: true,
    });
  });

  it('is where the settings say from one run to the next, and a walk on the way is begun anew', async () => {
    const body = { total: 3, count: 2, data: R(1, 2) };
    const source = await answering([given(body)]);
    expect(await page(source)).toMatchObject({ total: 3 });
    const set = await answering([given({ ...body, data: R(2, 3) }), given(body)], {
      totalPath: ['count'],
    });
    await expect(page(set, { nextStart: 2, pages: 1, skip: 1 })).rejects.toThrow(WalkError);
    expect(await page(set, {}, walks[1])).toMatchObject({ total: 2 });
    const none = await answering([given(body)], { totalPath: null });
    expect(await page(none, {}, walks[2])).toMatchObject({ total: null, totalMissing: false });
    expect((await answering([])).context.contract.known).toBeNull();
  });
});

describe('the contract', () => {
  it('outlives the process, and no answer changes it', async () => {
    await shown({ data: R(1), total: 1 });
    const resumed = await answering([given({ data: R(1), total: 1, items: R(1, 2, 3) })]);
    expect(resumed.context.contract.known).toEqual({
      recordsPath: ['data'],
      totalPath: ['total'],
      relationPath: null,
    });
    expect(await page(resumed)).toMatchObject({ came: 1 });
  });

  it('is forgotten when a person accepts that answers have changed', async () => {
    await shown({ data: R(1) });
    await forgetContract(database, streamId);
    const source = await answering([given({ rows: R(1, 2) })]);
    expect(source.context.contract.known).toBeNull();
    expect(await page(source)).toMatchObject({ came: 2, stored: true });
  });

  it('is not learned from a later page, which may lack the total', async () => {
    const source = await answering([given({ data: R(3, 4) }), given({ total: 4, data: R(1, 2) })]);
    await probe(source, 2);
    expect(source.context.contract.known).toBeNull();
    await page(source);
    expect(source.context.contract.known).toMatchObject({ totalPath: ['total'] });
  });

  it('is the one that another worker was first to find', async () => {
    const here = await answering([given({ data: R(1), total: 5, n: 7 })]);
    await server.query(
      `insert into daywalk.contracts (stream_id, hints, records_path, total_path) values ($1, '{}', '{data}', '{n}')`,
      [streamId],
    );
    expect(await page(here)).toMatchObject({ total: 7 });
  });
});

describe('a probe', () => {
  it('is compared with what the walk holds, without what the walk ignores', async () => {
    await server.query(`update daywalk.walks set ignored = '{/row}' where walk_id = $1`, [
      walks[0],
    ]);
    const rows = (first: number, ...ids: number[]) =>
      ids.map((id, index) => ({ id, row: first + index }));
    const source = await answering([
      given({ data: rows(1, 1, 2, 3) }),
      given({ data: rows(1, 3) }),
      given({ data: rows(1, 2, 9) }),
      given({ data: rows(7, 3, 4) }),
    ]);
    await page(source);
    const last = await probe(source, 2);
    const known = await readHashes(database, walks[0] ?? 0);
    expect(last).toMatchObject({ beginsWithLast: true, came: 1, stored: false });
    expect(last.hashes).toEqual(known.slice(-1));
    const inside = await probe(source, 1);
    expect(inside.beginsWithLast).toBe(false);
    expect(known).toContain(inside.hashes[0]);
    const next = await page(source, { nextStart: 3, pages: 1, skip: 1 });
    expect(next).toMatchObject({ continues: true, stored: true, records: 1 });
  });

  it('hashes what identifies a record, where the stream says', async () => {
    await server.query(`update daywalk.walks set id_path = '{a,id}'`);
    const list = [{ a: { id: 1 }, n: 1 }, { a: { id: 1 }, n: 2 }, { n: 3 }];
    await page(await answering([given({ data: list })]));
    const [row] = await server.query<{ ids: string[] }>(
      'select id_hashes::text[] as ids from daywalk.pages',
    );
    expect(row?.ids[0]).toBe(row?.ids[1]);
    expect(row?.ids[2]).toBeNull();
  });
});
