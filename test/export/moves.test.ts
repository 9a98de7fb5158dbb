/** What the walks of a window so far call for, decided on rows in the database (DESIGN 5.2, 5.3, 5.6). */
import { beforeEach, describe, expect, it } from 'vitest';
import { StreamMemory } from '../../src/export/memory.ts';
import { type MoveContext, nextMove } from '../../src/export/moves.ts';
import { cut } from '../../src/export/span.ts';
import type { Proof } from '../../src/model.ts';
import type { Database } from '../../src/store/database.ts';
import { readEarlierWalks } from '../../src/store/evidence.ts';
import type { Claim } from '../../src/store/leases.ts';
import { storePage } from '../../src/store/pages.ts';
import { endWalk, openWalk, readOpenWalk, type WalkSpan } from '../../src/store/walks.ts';
import { planWindows } from '../../src/store/windows.ts';
import {
  claimDay,
  DAY,
  dayRow,
  ENVELOPE,
  freshStore,
  pageOf,
  registerEvents,
  seamRow,
  TTL_MS,
} from '../support/store.ts';

let database: Database;
let claim: Claim;
let context: MoveContext;
let memory: StreamMemory;

freshStore((store) => {
  ({ database } = store);
});
beforeEach(async () => {
  await begin(dayRow(DAY));
});

async function begin(row: ReturnType<typeof dayRow | typeof seamRow>): Promise<void> {
  const streamId = await registerEvents(database, { name: `of-${row.kind}` });
  await planWindows(database, streamId, 'scheduled', [row]);
  claim = await claimDay(database, streamId);
  memory = new StreamMemory(database, streamId, []);
  context = { database, memory, walkAttempts: 5 };
}

interface Walked {
  readonly span?: WalkSpan;
  readonly outcome?: 'ended' | 'shifted' | 'failed';
  readonly reason?: string;
  readonly length?: number;
  /** What every page says of the window. */
  readonly total?: number;
}

/** A walk that brought these pages, each a list of ids; without a total a probe is its proof. */
async function walked(pages: readonly (readonly number[])[], options: Walked = {}) {
  const { span = 'whole', outcome = 'ended', reason = null, length = 100, total = null } = options;
  await openWalk(database, claim, span, length);
  const walk = await readOpenWalk(database, claim);
  if (!walk) throw new Error('no walk was opened');
  const { walkId } = walk;
  let nextStart = 0;
  for (const [index, ids] of pages.entries()) {
    const texts = ids.map((id) => `{"id": ${id}}`);
    const checkpoint = { walkId, nextStart, pages: index, skip: 0 } as const;
    const page = pageOf(nextStart, texts, total);
    await storePage(database, claim, TTL_MS, checkpoint, page, ENVELOPE, false);
    nextStart += ids.length;
  }
  const proof: Proof =
    total === null
      ? { kind: 'probe', start: nextStart - 1, records: nextStart, sha256: '' }
      : { kind: 'total', firstTotal: total, lastTotal: total, records: nextStart };
  await endWalk(database, claim, walkId, {
    outcome,
    reason,
    proof: outcome === 'ended' ? proof : null,
    requests: 0,
  });
  return walkId;
}

/** The ids from `first` on, in pages of `size`. */
const run = (first: number, count: number, size = count): number[][] =>
  Array.from({ length: Math.ceil(count / size) }, (_, page) =>
    Array.from(
      { length: Math.min(size, count - page * size) },
      (_, index) => first + page * size + index,
    ),
  );

const halvesOf = (of: Claim) =>
  cut(of, { name: 'events', resource: 'events', filters: {} }, 'UTC', 2);
const move = async () =>
  nextMove(context, claim, await readEarlierWalks(database, claim), halvesOf(claim));

describe('a window', () => {
  it('that was not walked yet is walked', async () => {
    expect(await move()).toEqual({ kind: 'walk', span: 'whole' });
  });

  it('whose walk ended with a total is published', async () => {
    const walkId = await walked(run(1, 30, 10), { total: 30 });
    expect(await move()).toMatchObject({
      kind: 'publish',
      walk: { walkId },
      proof: { kind: 'total', records: 30 },
    });
  });

  it('whose walk met no quiet end is walked again, until the attempts are used up', async () => {
    for (let attempt = 0; attempt < 5; attempt++) {
      expect(await move()).toEqual({ kind: 'walk', span: 'whole' });
      await walked([[1]], { outcome: 'failed', reason: `reason ${attempt}` });
    }
    await expect(move()).rejects.toThrow(/5 attempts; the last: reason 4/);
  });
});

describe('a list that moved under two walks', () => {
  it('is split into windows of one page', async () => {
    await walked(run(1, 20, 10), { outcome: 'shifted', reason: 'moved', total: 45 });
    expect(await move()).toEqual({ kind: 'walk', span: 'whole' });
    await walked(run(1, 20, 10), { outcome: 'shifted', reason: 'moved', total: 45 });
    expect(await move()).toMatchObject({ kind: 'split', total: 45, size: 10 });
  });

  it('is walked again where it is one page already', async () => {
    for (let walk = 0; walk < 2; walk++)
      await walked([[1, 2]], { outcome: 'shifted', reason: 'moved' });
    expect(await move()).toEqual({ kind: 'walk', span: 'whole' });
  });
});

describe('a window without a total, larger than any that was proven', () => {
  it('is walked in two halves, and published when they add up', async () => {
    const walkId = await walked(run(1, 20));
    expect(await move()).toEqual({ kind: 'walk', span: 'first half' });
    const first = await walked(run(1, 11), { span: 'first half' });
    expect(await move()).toEqual({ kind: 'walk', span: 'second half' });
    const second = await walked(run(11, 10), { span: 'second half' });
    expect(await move()).toMatchObject({
      kind: 'publish',
      walk: { walkId },
      proof: { halves: [first, second], halvedBy: 'time' },
    });
  });

  it('is split where a half holds a record that the whole does not', async () => {
    await walked(run(1, 20));
    await walked(run(1, 12), { span: 'first half' });
    await walked(run(13, 9), { span: 'second half' });
    expect(await move()).toMatchObject({
      kind: 'split',
      total: null,
      size: 20,
      reason: 'the whole gave 20 records, its halves 12 and 9: they do not add up',
    });
  });

  it('is split where one half holds everything: a cap would cut both alike', async () => {
    await walked(run(1, 20));
    await walked(run(1, 20), { span: 'first half' });
    await walked([], { span: 'second half' });
    expect(await move()).toMatchObject({ kind: 'split', reason: expect.stringMatching(/a cap/) });
  });

  it('of few records is published all the same: no source caps at ten', async () => {
    await walked(run(1, 10));
    await walked(run(1, 10), { span: 'first half' });
    await walked([], { span: 'second half' });
    expect(await move()).toMatchObject({ kind: 'publish' });
  });

  it('needs no halves once a larger one was proven', async () => {
    await memory.learn('proven_size', 21, 'a test');
    await walked(run(1, 20));
    expect(await move()).toMatchObject({ kind: 'publish' });
  });

  it('of exactly the proven size needs them: it may end at a cap', async () => {
    await memory.learn('proven_size', 20, 'a test');
    await walked(run(1, 20));
    expect(await move()).toEqual({ kind: 'walk', span: 'first half' });
  });
});

describe('records that stand on two pages of one walk', () => {
  const doubled = [
    [1, 2, 3, 4],
    [4, 5, 6, 7],
  ];

  it('call for a walk with other page boundaries', async () => {
    await walked(doubled, { total: 8 });
    expect(await move()).toEqual({ kind: 'walk', span: 'whole' });
  });

  it('are believed where such a walk agrees, but not one with the same boundaries', async () => {
    const first = await walked([[1, 2, 3], [4, 4, 5], [6]], { total: 7 });
    await walked(
      [
        [1, 2, 3, 4],
        [4, 5, 6],
      ],
      { total: 7 },
    );
    expect(await move()).toMatchObject({
      kind: 'publish',
      proof: { kind: 'total', repeated: 1, agreesWith: first },
    });
  });

  it('are not believed on the word of a walk with the same boundaries', async () => {
    await memory.learn('proven_size', 100, 'a test');
    await walked(doubled);
    await walked(doubled);
    expect(await move()).toMatchObject({ kind: 'split', size: 4 });
  });

  it('are proven by the union of two walks that holds what the total says', async () => {
    const first = await walked(
      [
        [1, 2, 3],
        [3, 4, 5],
      ],
      { total: 6 },
    );
    await walked(
      [
        [1, 2, 3, 4],
        [4, 6],
      ],
      { total: 6 },
    );
    expect(await move()).toMatchObject({
      kind: 'publish',
      proof: { kind: 'union', records: 6, total: 6, unites: [first], repeated: 1 },
    });
  });

  it('are no proof where all walks missed the same record, though each has as many as the total says', async () => {
    await walked([[1, 2, 3], [3]], { total: 4 });
    await walked([[2, 1], [3], [3]], { total: 4 });
    expect(await move()).not.toMatchObject({ kind: 'publish' });
  });

  it('lead to a split into windows of one page where the union holds less', async () => {
    await walked(
      [
        [1, 2, 3],
        [3, 4, 5],
      ],
      { total: 7 },
    );
    await walked(
      [
        [1, 2, 3, 4],
        [4, 5, 6],
      ],
      { total: 7 },
    );
    expect(await move()).toMatchObject({ kind: 'split', total: 7, size: 4 });
  });
});

describe('a seam', () => {
  beforeEach(() => begin(seamRow(DAY)));

  it('without records is published', async () => {
    await walked([]);
    expect(await move()).toMatchObject({ kind: 'publish' });
  });

  it('with records is walked again behind the first second of the next day, and must be the same', async () => {
    await memory.learn('proven_size', 100, 'a test');
    await walked([[1, 2]]);
    expect(await move()).toEqual({ kind: 'walk', span: 'next day' });
    const nextDay = await walked([[2]], { span: 'next day' });
    expect(await move()).toEqual({ kind: 'walk', span: 'whole' });
    await walked([[1, 2]]);
    expect(await move()).toMatchObject({ kind: 'publish', proof: { nextDay } });
  });

  it('that moved meanwhile is looked at again', async () => {
    await memory.learn('proven_size', 100, 'a test');
    await walked([[1, 2]]);
    await walked([[2]], { span: 'next day' });
    await walked([[1, 2, 3]]);
    expect(await move()).toEqual({ kind: 'walk', span: 'next day' });
  });
});
