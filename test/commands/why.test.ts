/** `daywalk why`: the sentences that the rows of a day become, and a story read from a real database. */
import { describe, expect, it } from 'vitest';
import { describeProof } from '../../src/report/proof-text.ts';
import { describeStory, mendingCommand } from '../../src/report/story-text.ts';
import {
  type DayStory,
  readDayStory,
  type WalkStory,
  type WindowStory,
} from '../../src/store/story.ts';
import { simulateExport } from '../support/simulated-export.ts';

const at = (text: string) => new Date(`${text}Z`);

const walk: WalkStory = {
  walkId: 11,
  number: 1,
  span: 'whole',
  pageLength: 1000,
  pages: 3,
  records: 2500,
  bytes: 2_000_000,
  requests: 4,
  firstTotal: 2500,
  lastTotal: 2500,
  outcome: 'proven',
  reason: null,
  proof: { kind: 'total', firstTotal: 2500, lastTotal: 2500, records: 2500 },
  published: true,
  hidden: 0,
  quarantined: 0,
  quarantine: [],
  startedAt: at('2026-03-02T01:00:00'),
  finishedAt: at('2026-03-02T01:00:05'),
};
const window: WindowStory = {
  windowId: 1,
  kind: 'day',
  from: '2026-03-01 00:00:00',
  to: '2026-03-01 23:59:59',
  levelFrom: null,
  levelTo: null,
  state: 'complete',
  purpose: 'recheck',
  splitFrom: null,
  splitBy: null,
  splitReason: null,
  splitTotal: null,
  owner: null,
  rewalk: false,
  attempts: 0,
  failures: 0,
  lastError: null,
  lastFailedAt: null,
  completedAt: at('2026-03-02T01:00:05'),
  checkedAt: at('2026-03-03T01:00:00'),
  dueAt: at('2026-03-04T01:00:00'),
  walks: [walk],
  differences: [],
};
const story: DayStory = {
  stream: 'events',
  day: '2026-03-01',
  closesAt: at('2026-03-02T01:00:00'),
  closed: true,
  state: 'complete',
  records: 2500,
  pages: 3,
  bytes: 2_000_000,
  windows: [window],
  pruning: null,
  ledger: { entry: 4, revision: 2, digest: 'ab12', appendedAt: at('2026-03-02T01:00:06') },
};
const tell = (change: Partial<DayStory>) => describeStory({ ...story, ...change }).join('\n');

describe('a story', () => {
  it('of a complete day', () => {
    expect(describeStory(story)).toEqual([
      'events 2026-03-01: complete, 2,500 records on 3 pages (2.00 MB).',
      '  Day, 00:00:00 to 23:59:59: complete since 2026-03-02 01:00:05 UTC; the source was seen to be the same at 2026-03-03 01:00:00 UTC.',
      '    Walk 1: 2,500 records on 3 pages of at most 1,000, 4 requests, total 2,500 first, 2,500 last; proven, and shown in the views.',
      '      Proof by total: the total was 2,500 on the first page and 2,500 on the last, and 2,500 records are stored.',
      '    Looked at again: from 2026-03-04 01:00:00 UTC on.',
      '  In the ledger as entry 4, revision 2 of the day, 2026-03-02 01:00:06 UTC: ab12',
      'Nothing is to be done. To walk it again all the same: daywalk backfill --from 2026-03-01 --to 2026-03-01 --only all --stream events',
    ]);
  });

  it('of a failed day: the error, when it is tried again, and the command', () => {
    const shifted: WalkStory = {
      ...walk,
      outcome: 'shifted',
      reason: 'the total moved from 2500 to 2501 during the walk',
      proof: null,
      published: false,
    };
    const failed: WindowStory = {
      ...window,
      state: 'failed',
      failures: 3,
      lastError: 'no walk came to a quiet end',
      lastFailedAt: at('2026-03-02T02:00:00'),
      walks: [shifted],
    };
    const text = tell({ state: 'failed', windows: [failed], pages: 0, ledger: null });
    expect(text).toContain('failed, nothing is shown of it.');
    expect(text).toContain(
      'thrown away, because the list moved under it: the total moved from 2500 to 2501',
    );
    expect(text).toContain(
      'Failed 3 times, last at 2026-03-02 02:00:00 UTC: no walk came to a quiet end',
    );
    expect(text).toContain('Walked next: from 2026-03-04 01:00:00 UTC on.');
    expect(text).toContain(
      'To walk it now: daywalk backfill --from 2026-03-01 --to 2026-03-01 --stream events',
    );
  });

  it('of a split: why, and the parts below it', () => {
    const split: WindowStory = {
      ...window,
      state: 'split',
      splitBy: 'time',
      splitReason: 'the total says 20000, and paging goes no deeper than 10000',
      splitTotal: 20_000,
      walks: [],
    };
    const part: WindowStory = {
      ...window,
      windowId: 2,
      kind: 'part',
      splitFrom: 1,
      to: '2026-03-01 12:00:00',
    };
    const lines = describeStory({ ...story, windows: [split, part] });
    expect(lines[1]).toBe(
      '  Day, 00:00:00 to 23:59:59: split by time, because the total says 20000, and paging goes no deeper than 10000; its parts must hold 20,000 records.',
    );
    expect(lines[2]).toMatch(/^ {4}Part, 00:00:00 to 12:00:00: complete/);
  });

  it('tells late and vanished records, quarantine and records shown elsewhere', () => {
    const found = {
      walkId: 11,
      foundAt: at('2026-03-03T02:00:00'),
      afterHours: 25,
      appeared: 2,
      vanished: 1,
    };
    const poisoned = { ...walk, quarantined: 1, quarantine: ['nul'], hidden: 3 };
    const text = tell({ windows: [{ ...window, walks: [poisoned], differences: [found] }] });
    expect(text).toContain(
      '25.0 hours after the day had closed, walk 1 found 2 records more and 1 record missing.',
    );
    expect(text).toContain('jsonb cannot hold 1 page of it (nul)');
    expect(text).toContain('3 records of it are left out of the views');
  });

  it('of a day that nobody planned', () => {
    const nothing = { state: 'missing' as const, windows: [], pages: 0, ledger: null };
    expect(tell(nothing)).toContain('No window of this day was ever planned');
    expect(tell({ ...nothing, closed: false })).toContain(
      'it is planned from 2026-03-02 01:00:00 UTC on',
    );
    expect(mendingCommand({ ...story, ...nothing, closed: false })).toBeNull();
  });
});

describe('a proof', () => {
  it.each([
    [{ kind: 'probe', start: 0, records: 0, sha256: '' }, 'asked once more it was empty again'],
    [
      { kind: 'probe', start: 9, records: 10, sha256: '' },
      'asked from 9 on, the source showed exactly the last record stored',
    ],
    [
      { kind: 'probe', start: 9, records: 10, sha256: '', halves: [3, 4], halvedBy: 'time' },
      'two halves by time (walk ids 3 and 4)',
    ],
    [
      { kind: 'union', records: 10, total: 10, unites: [3], repeated: 2 },
      'together with walk id 3 10 different records',
    ],
    [
      { kind: 'probe', start: 9, records: 10, sha256: '', repeated: 1, agreesWith: 7 },
      'walk id 7 brought the very same records',
    ],
    [
      { kind: 'probe', start: 0, records: 1, sha256: '', nextDay: 8 },
      'asked for separately (walk id 8)',
    ],
  ] as const)('%o', (proof, text) => expect(describeProof(proof)).toContain(text));
});

it('reads the story of a day that was exported and walked again', async () => {
  const scene = await simulateExport();
  try {
    scene.api.insert([{ text: '{"id":"late"}', time: '2026-03-01T12:00:00Z' }]);
    await scene.again();
    const read = await readDayStory(scene.database, 'events', scene.day);
    expect(read).toMatchObject({ state: 'complete', records: 1251, closed: true });
    expect(read.windows.map(({ kind }) => kind)).toEqual(['day', 'seam']);
    expect(read.windows[0]?.differences).toMatchObject([{ appeared: 1, vanished: 0 }]);
    const text = describeStory(read).join('\n');
    expect(text).toContain('found 1 record more.');
    expect(text).toContain('proven, and replaced by a later walk');
    expect(text).toMatch(/In the ledger as entry \d, revision \d of the day/);
  } finally {
    await scene.close();
  }
});
