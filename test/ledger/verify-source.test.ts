/** `verify` and `verify --deep` against a simulated API: what changed there is found, and nothing stored is changed. */
import { afterEach, describe, expect, it } from 'vitest';
import type { Hook, SimulatorOptions } from '../../simulator/simulator.ts';
import { comparePages } from '../../src/ledger/verify-deep.ts';
import {
  type Compare,
  lookAtWindow,
  verifyWindows,
  type WindowVerdict,
} from '../../src/ledger/verify-source.ts';
import { learn } from '../../src/store/evidence/learned.ts';
import { listPublishedWindows } from '../../src/store/evidence/proven.ts';
import { StoredRecords, UNREACHED_RECORDS } from '../../src/tier/moved-records.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { andAtNight } from '../support/night.ts';
import { type SimulatedExport, simulateExport } from '../support/simulated-export.ts';
import { moveAll, partsOf, sealAll, signal } from '../tier/moving-scene.ts';

/** A day of 250 events, twenty a page. */
const exported = (more: SimulatorOptions = {}) =>
  simulateExport({ eventsPerDay: 250, ...more }, { pageLength: 20 });

let scene: SimulatedExport | undefined;
afterEach(async () => {
  await scene?.close();
  scene = undefined;
});

async function compare(
  { parts, streams, database }: SimulatedExport,
  how: Compare,
): Promise<WindowVerdict[]> {
  const windows = await listPublishedWindows(database, ['events'], null);
  return verifyWindows(parts, streams, windows, how, 2, new AbortController().signal);
}

/** Moves all that was exported. @returns what reads it there. */
async function moveDay({ database, day }: SimulatedExport, store = new MemoryStore()) {
  await sealAll(database);
  const { days } = await moveAll(partsOf(database, store), ['events'], [day]);
  expect(days).toHaveLength(1);
  return new StoredRecords(store);
}

/** A walk of another day has learned it. */
const learnLength = async ({ database }: SimulatedExport, length: number) => {
  const [{ id } = { id: 0 }] = await database.query<{ id: number }>(
    'select stream_id as id from daywalk.streams',
  );
  await learn(database, id, 'page_length', length, 'a walk of another day');
};

const ofDay = (verdicts: readonly WindowVerdict[]) =>
  verdicts.find(({ window }) => window.to.endsWith('23:59:59')) as WindowVerdict;

/** Tables that a verification must leave alone. */
const traces = ({ server }: SimulatedExport) =>
  server.query(
    'select w.*, k.* from daywalk.windows w join daywalk.walks k using (window_id) order by walk_id',
  );

/** A text of the simulated day. */
const record = (time: string) => ({ text: `{"timestamp":"${time}","id":"new"}`, time });

function texts({ api, day }: SimulatedExport): string[] {
  return api.matching({ from: `${day} 00:00:00`, to: `${day} 23:59:59` });
}

/** Changes one record, and neither its time nor its place. */
function editInTheMiddle(scene: SimulatedExport): void {
  const old = texts(scene)[100] as string;
  const day = { from: `${scene.day} 00:00:00`, to: `${scene.day} 23:59:59` };
  scene.api.remove(({ text }) => text === old, day);
  const time = JSON.parse(old).timestamp;
  scene.api.insert([{ text: old.replace(/}$/, ',"edited":true}'), time }]);
}

const noon = { from: '2026-03-01 11:00:00', to: '2026-03-01 13:00:00' };

describe('one request each', () => {
  it('sees that nothing changed, asks once for each window, and changes nothing', async () => {
    scene = await exported();
    const before = await traces(scene);
    const asked = scene.api.counts.requests;
    const verdicts = await compare(scene, lookAtWindow);
    expect(verdicts.map(({ state }) => state)).toEqual(verdicts.map(() => 'same'));
    expect(scene.api.counts.requests - asked).toBe(verdicts.length);
    expect(await traces(scene)).toEqual(before);
  });

  it('sees a late record, which moves the last one', async () => {
    scene = await exported();
    scene.api.insert([record('2026-03-01T12:00:00Z')]);
    const { state, differences } = ofDay(await compare(scene, lookAtWindow));
    expect(state).toBe('changed');
    expect(differences.join()).toMatch(/the last record, at 249, is another/);
  });

  it('sees a vanished record without any total', async () => {
    scene = await exported({ totals: 'none' });
    let left = 1;
    scene.api.remove(() => left-- > 0, noon);
    const { state, differences } = ofDay(await compare(scene, lookAtWindow));
    expect(state).toBe('changed');
    expect(differences.join()).toMatch(/there is no record at 249/);
  });

  it('does not see a change in the middle, which keeps total and last record', async () => {
    scene = await exported();
    editInTheMiddle(scene);
    expect(ofDay(await compare(scene, lookAtWindow)).state).toBe('same');
  });

  it.each(andAtNight([['the index is away', 'changed']], [['no match', 'same']]))(
    'an empty day that answers %j in words that no look has confirmed yet is %s',
    async (later, state) => {
      let note = 'no match';
      const times = Array.from({ length: 12 }, (_, n) => `2026-03-01 12:00:${10 + n}`);
      const respond: Hook = ({ query: { fromDate = '', toDate = '', start, length } }) => {
        const all = times.filter((time) => time >= fromDate && time <= toDate);
        const list = all.slice(Number(start), Number(start) + Number(length));
        const data = list.map((time) => ({ timestamp: `${time}Z`, id: time }));
        const body = { data, total: all.length, ...(list.length === 0 && { note }) };
        return { body: JSON.stringify(body) };
      };
      scene = await simulateExport({ respond, seed: later }, { to: '2026-03-02' });
      note = later;
      const verdicts = await compare(scene, lookAtWindow);
      expect(verdicts.map((one) => [one.window.from.slice(0, 10), one.state])).toEqual(
        expect.arrayContaining([
          ['2026-03-01', 'same'],
          ['2026-03-02', state],
        ]),
      );
    },
  );

  it('tells an answer that is no page, and goes on', async () => {
    scene = await exported();
    scene.api.set({ faults: [{ kind: 'html' }] });
    const verdicts = await compare(scene, lookAtWindow);
    expect(new Set(verdicts.map(({ state }) => state))).toEqual(new Set(['unknown']));
  });
});

const WHERE = [
  ['in Postgres', async () => UNREACHED_RECORDS],
  ['in the tier', moveDay],
] as const;

it('names what says more where stored pages are gone', async () => {
  scene = await exported();
  await scene.database.query('delete from daywalk.pages');
  const { state, differences } = ofDay(await compare(scene, comparePages(UNREACHED_RECORDS)));
  expect([state, differences.join()]).toEqual([
    'unknown',
    expect.stringContaining('daywalk verify --offline'),
  ]);
});

describe.each(WHERE)('page by page, with the pages %s', (_, place) => {
  it('sees that nothing changed', async () => {
    scene = await exported();
    const moved = await place(scene);
    const before = await traces(scene);
    const verdicts = await compare(scene, comparePages(moved));
    expect(verdicts.map(({ state }) => state)).toEqual(verdicts.map(() => 'same'));
    expect(await traces(scene)).toEqual(before);
  });

  it('counts a record that came in at the front, and no record that it moved to another page', async () => {
    scene = await exported();
    const moved = await place(scene);
    scene.api.insert([record('2026-03-01T00:00:00Z'), record('2026-03-01T23:59:58.9Z')]);
    expect(ofDay(await compare(scene, comparePages(moved)))).toMatchObject({
      state: 'changed',
      records: { vanished: 0, appeared: 2 },
    });
  });

  it('finds a record that was changed in the middle, which keeps total and last record', async () => {
    scene = await exported();
    const moved = await place(scene);
    editInTheMiddle(scene);
    const { state, records } = ofDay(await compare(scene, comparePages(moved)));
    expect(state).toBe('changed');
    expect(records).toMatchObject({ vanished: 1, appeared: 1, vanishedAt: [expect.any(Number)] });
  });

  it('finds what vanished, whatever page it was on', async () => {
    scene = await exported();
    const moved = await place(scene);
    let left = 3;
    scene.api.remove(() => left-- > 0, noon);
    expect(ofDay(await compare(scene, comparePages(moved)))).toMatchObject({
      state: 'changed',
      records: { vanished: 3, appeared: 0 },
    });
  });

  it('is not misled by a source that gives shorter pages than it did', async () => {
    scene = await exported();
    const moved = await place(scene);
    scene.api.set({ clamp: 7 } as never);
    const verdicts = await compare(scene, comparePages(moved));
    expect(verdicts.map(({ state }) => state)).toEqual(verdicts.map(() => 'same'));
  });

  it('asks a source that came to refuse pages so long for those that it was seen to give', async () => {
    scene = await exported();
    const moved = await place(scene);
    scene.api.set({ maxLength: { limit: 7, status: 400 } });
    await learnLength(scene, 7);
    const verdicts = await compare(scene, comparePages(moved));
    expect(verdicts.map(({ state }) => state)).toEqual(verdicts.map(() => 'same'));
  });

  it('asks a source that counts pages by number for those that are stored, whatever length was learned', async () => {
    const times = Array.from({ length: 50 }, (_, n) => `2026-03-01 12:00:${10 + n}`);
    const respond: Hook = ({ query: { fromDate = '', toDate = '', start, length } }) => {
      const all = times.filter((time) => time >= fromDate && time <= toDate);
      const first = Math.floor(Number(start) / Number(length)) * Number(length);
      const list = all.slice(first, first + Number(length));
      const data = list.map((time) => ({ timestamp: `${time}Z`, id: time }));
      return { body: JSON.stringify({ data, total: all.length }) };
    };
    scene = await exported({ respond, seed: 'by number' });
    const moved = await place(scene);
    await learnLength(scene, 7);
    const verdicts = await compare(scene, comparePages(moved));
    expect(verdicts.map(({ state }) => state)).toEqual(verdicts.map(() => 'same'));
  });

  it('takes a failure behind the end of a list for its end, as a refusal', async () => {
    scene = await exported();
    const moved = await place(scene);
    const failure = { status: 200, body: '{"error": "start is behind the last record"}' };
    scene.api.set({
      respond: ({ query: { start } }) => (Number(start) >= 250 ? failure : undefined),
    });
    const verdicts = await compare(scene, comparePages(moved));
    expect(verdicts.map(({ state }) => state)).toEqual(verdicts.map(() => 'same'));
  });

  it('compares each part of a day that was split', async () => {
    scene = await exported({ offsetCap: { limit: 60, answer: 400 } });
    const moved = await place(scene);
    let left = 1;
    scene.api.remove(() => left-- > 0, noon);
    const verdicts = await compare(scene, comparePages(moved));
    expect(verdicts.length).toBeGreaterThan(3);
    expect(verdicts.filter(({ state }) => state === 'changed')).toMatchObject([
      { records: { vanished: 1, appeared: 0 } },
    ]);
    expect(verdicts.map(({ records }) => records?.pages ?? 0)).not.toContain(0);
  });
});

describe('of a day in the tier', () => {
  it('one that moves while it is compared is not taken for the same', async () => {
    scene = await exported();
    const windows = await listPublishedWindows(scene.database, ['events'], null);
    const moved = await moveDay(scene);
    const { parts, streams } = scene;
    const verdicts = await verifyWindows(parts, streams, windows, comparePages(moved), 1, signal);
    expect(ofDay(verdicts)).toMatchObject({
      state: 'unknown',
      differences: [expect.stringContaining('they moved or were pruned meanwhile')],
    });
  });

  it('an object that is gone is told by its name, and is no day without records', async () => {
    scene = await exported();
    const store = new MemoryStore();
    const moved = await moveDay(scene, store);
    for (const key of store.objects.keys()) if (key.startsWith('pages/')) store.objects.delete(key);
    expect(ofDay(await compare(scene, comparePages(moved)))).toMatchObject({
      state: 'unknown',
      differences: [
        expect.stringMatching(/^memory has no whole object pages\/stream=events\/day=2026-03-01\//),
      ],
    });
    await expect(compare(scene, comparePages(UNREACHED_RECORDS))).rejects.toThrow(
      /^events 2026-03-01 moved to memory: tier\.url is not set/,
    );
  });
});
