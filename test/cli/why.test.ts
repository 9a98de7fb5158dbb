/** `daywalk why`: the sentences that the rows of a day become, and a story read from a real database. */
import { describe, expect, it } from 'vitest';
import {
  type DayStory,
  readDayStory,
  type WalkStory,
  type WindowStory,
} from '../../src/days/story-rows.ts';
import { describeStory, mendingCommand } from '../../src/days/story-text.ts';
import { simulateExport } from '../support/simulated-export.ts';

const at = (text: string) => new Date(`${text}Z`);

const walk: WalkStory = {
  walkId: 11,
  number: 1,
  role: 'whole',
  from: '2026-03-01 00:00:00',
  to: '2026-03-01 23:59:59',
  pageLength: 1000,
  pages: 3,
  records: 2500,
  bytes: 2_000_000,
  requests: 4,
  firstTotal: 2500,
  lastTotal: 2500,
  outcome: 'proven',
  reason: null,
  claims: [],
  shown: 'whole',
  pruned: false,
  shownRecords: 2500,
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
  purpose: 'look',
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
  proof: { kind: 'total', rule: 'C3', records: 2500, why: 'every total said 2,500', walk: 11 },
  provenAt: at('2026-03-02T01:00:05'),
  lookedAt: at('2026-03-03T01:00:00'),
  looks: 2,
  dueAt: at('2026-03-04T01:00:00'),
  walks: [walk],
};
const story: DayStory = {
  stream: 'events',
  day: '2026-03-01',
  closesAt: at('2026-03-02T01:00:00'),
  closed: true,
  state: 'complete',
  standing: 'complete',
  records: 2500,
  gone: 0,
  pages: 3,
  bytes: 2_000_000,
  lastError: null,
  restless: false,
  retiredSince: null,
  publications: [],
  windows: [window],
  pruning: null,
  ledger: { entry: 4, revision: 2, digest: 'ab12', appendedAt: at('2026-03-02T01:00:06') },
};
const tell = (change: Partial<DayStory>) => describeStory({ ...story, ...change }).join('\n');

describe('a story', () => {
  it('of a complete day', () => {
    expect(describeStory(story)).toEqual([
      'events 2026-03-01: complete, 2,500 records on 3 pages (2.00 MB).',
      '  Day, 00:00:00 to 23:59:59: complete since 2026-03-02 01:00:05 UTC; looked at 2 times since, last at 2026-03-03 01:00:00 UTC, and found the same.',
      '    Walk 1: 2,500 records on 3 pages of at most 1,000, 4 requests, total 2,500 first, 2,500 last; proven; the views show it.',
      '      Proof by total (docs/completeness.md C3): every total said 2,500.',
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
      shown: 'no',
      shownRecords: 0,
    };
    const failed: WindowStory = {
      ...window,
      state: 'failed',
      failures: 3,
      lastError: 'no walk came to a quiet end',
      lastFailedAt: at('2026-03-02T02:00:00'),
      walks: [shifted],
    };
    const text = tell({
      state: 'failed',
      standing: 'failed',
      windows: [failed],
      pages: 0,
      ledger: null,
    });
    expect(text).toContain('failed, the views show nothing of it.');
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
      proof: null,
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
      '  Day, 00:00:00 to 23:59:59: split by time, because the total says 20000, and paging goes no deeper than 10000; the total said 20,000 records.',
    );
    expect(lines[2]).toMatch(/^ {4}Part, 00:00:00 to 12:00:00: complete/);
  });

  it('of a cut, with the walks on both sides of it', () => {
    const cut: WindowStory = {
      ...window,
      kind: 'cut',
      from: '2026-03-01 23:59:59',
      to: '2026-03-02 00:00:00',
      looks: 0,
      proof: {
        kind: 'cut',
        rule: 'C8',
        records: 1,
        removed: 0,
        why: '1 shown by neither neighbour, 0 by both',
        across: 11,
      },
      walks: [
        {
          ...walk,
          role: 'across',
          from: '2026-03-01 23:59:58',
          to: '2026-03-02 00:00:01',
          records: 3,
          shown: 'part',
          shownRecords: 1,
        },
        {
          ...walk,
          walkId: 12,
          number: 2,
          role: 'before',
          from: '2026-03-01 23:59:58',
          shown: 'no',
          shownRecords: 0,
        },
      ],
    };
    const text = tell({ windows: [cut] });
    expect(text).toContain(
      'Cut between 2026-03-01 23:59:59 and 00:00:00: complete since 2026-03-02 01:00:05 UTC, not looked at again yet.',
    );
    expect(text).toContain('Walk 1 across it, 2026-03-01 23:59:58 to 00:00:01: 3 records');
    expect(text).toContain(
      'proven; the views show 1 of its records.\n      Proof by cut (docs/completeness.md C8): 1 shown by neither neighbour',
    );
    expect(text).toContain('Walk 2 before it, 2026-03-01 23:59:58 to 23:59:59');
    expect(text).toContain('it shows nothing that was not shown before');
  });

  it('tells what came late, what is gone, other answers, and quarantine', () => {
    const first = {
      revision: 1,
      publishedAt: at('2026-03-02T01:00:05'),
      records: 2500,
      appeared: 0,
      gone: 0,
    };
    const later = {
      revision: 2,
      publishedAt: at('2026-03-03T02:00:00'),
      records: 2502,
      appeared: 2,
      gone: 1,
    };
    const claim = {
      start: 2499,
      length: 2,
      came: 1,
      total: 2500,
      lowerBound: true,
      totalMissing: false,
      more: true,
    };
    const poisoned: WalkStory = { ...walk, quarantined: 1, quarantine: ['nul'], claims: [claim] };
    const text = tell({
      gone: 1,
      windows: [{ ...window, walks: [poisoned] }],
      publications: [first, later],
    });
    expect(text).toContain('of which the source does not show 1 any more.');
    expect(text).toContain(
      'At 2026-03-03 02:00:00 UTC what is shown changed, 2 records more and 1 record gone from the source, and kept: 2,502 records.',
    );
    expect(text).not.toContain('At 2026-03-02 01:00:05');
    expect(text).toContain(
      '1 other answer besides: from 2,499 on 1 came of 2 asked for, total at least 2,500, and more.',
    );
    expect(text).toContain('jsonb cannot hold 1 page of it (nul)');
  });

  it('of a split that is complete: since when, and why it was split', () => {
    const splitReason = 'paging goes no deeper than 900';
    const split: WindowStory = { ...window, splitBy: 'time', splitReason, looks: 0 };
    expect(tell({ windows: [split] })).toContain(
      'complete since 2026-03-02 01:00:05 UTC, not looked at again yet; proven by its parts, split by time, because paging goes no deeper than 900.',
    );
  });

  it('of a walk whose pages went: the views show nothing of it', () => {
    const text = tell({ windows: [{ ...window, walks: [{ ...walk, pruned: true }] }] });
    expect(text).toContain('; proven; its pages are not kept here any more.');
    expect(text).not.toContain('the views show');
  });

  it('of a walk that nobody goes on with just now', () => {
    const open: WalkStory = { ...walk, outcome: null, finishedAt: null };
    const failed: WindowStory = { ...window, state: 'failed', proof: null, walks: [open] };
    expect(tell({ state: 'failed', standing: 'failed', windows: [failed] })).toContain(
      '; begun at 2026-03-02 01:00:00 UTC, and not at its end: the next run goes on with it.',
    );
    expect(tell({ windows: [{ ...failed, owner: 'here' }] })).toContain(
      '; in progress since 2026-03-02 01:00:00 UTC.',
    );
  });

  it('of a day that only a person can settle: what the error says, no backfill that fails again', () => {
    const lastError =
      'no new window becomes complete: 2 days show nothing (Was the key narrowed? If it really lost its events: daywalk accept)';
    const text = tell({ state: 'failed', standing: 'failed', lastError });
    expect(text).toMatch(
      /Was the key narrowed\? If it really lost its events: daywalk accept --stream events$/,
    );
    expect(text).not.toContain('backfill');
  });

  it('tells that the source has forgotten the day', () => {
    expect(tell({ retiredSince: at('2026-04-01T00:00:00') })).toContain(
      '; the source has forgotten the day, as was seen at 2026-04-01 00:00:00 UTC.',
    );
  });

  it('of a day that nobody planned', () => {
    const nothing: Partial<DayStory> = {
      state: 'missing',
      standing: 'missing',
      windows: [],
      pages: 0,
      ledger: null,
    };
    expect(tell(nothing)).toContain('No window of this day was ever planned');
    expect(tell({ ...nothing, closed: false })).toContain(
      'it is planned from 2026-03-02 01:00:00 UTC on',
    );
    expect(mendingCommand({ ...story, ...nothing, closed: false })).toBeNull();
    const unknown = tell({ ...nothing, closed: false, closesAt: null });
    expect(unknown).toContain(
      'not walked yet, the views show nothing of it.\n  This stream has not been',
    );
  });
});

it('reads the story of a day that was exported and walked again', async () => {
  const scene = await simulateExport();
  try {
    scene.api.insert([{ text: '{"id":"late"}', time: '2026-03-01T12:00:00Z' }]);
    await scene.again();
    const read = await readDayStory(scene.database, 'events', scene.day);
    expect(read).toMatchObject({ state: 'complete', records: 1251, closed: true });
    expect(read.windows.map(({ kind }) => kind)).toEqual(['cut', 'day', 'cut']);
    expect(read.publications.at(-1)).toMatchObject({ appeared: 1, gone: 0, records: 1251 });
    const text = describeStory(read).join('\n');
    expect(text).toContain('what is shown changed, 1 record more: 1,251 records.');
    expect(text).toMatch(/In the ledger as entry \d, revision \d of the day/);
  } finally {
    await scene.close();
  }
});
