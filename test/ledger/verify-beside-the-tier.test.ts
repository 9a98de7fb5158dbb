/** `verify` beside a worker that moves days: what went meanwhile is not what the source changed. */
import { afterEach, expect, it } from 'vitest';
import { lookAtWindow, verifyWindows } from '../../src/ledger/verify-source.ts';
import { listPublishedWindows } from '../../src/store/evidence/proven.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { type SimulatedExport, simulateExport } from '../support/simulated-export.ts';
import { moveAll, partsOf, sealAll } from '../tier/moving-scene.ts';

let scene: SimulatedExport | undefined;
afterEach(async () => {
  await scene?.close();
  scene = undefined;
});

it('says nothing against a day that moved after it was listed', async () => {
  scene = await simulateExport();
  const { database, day, parts, streams } = scene;
  const windows = await listPublishedWindows(database, ['events'], null);
  expect(windows.every(({ place }) => place === 'here')).toBe(true);
  await sealAll(database);
  const { days } = await moveAll(partsOf(database, new MemoryStore()), ['events'], [day]);
  expect(days).toHaveLength(1);
  const { signal } = new AbortController();
  const verdicts = await verifyWindows(parts, streams, windows, lookAtWindow, 2, signal);
  const changed = verdicts.filter(({ state }) => state === 'changed');
  expect(changed.map(({ differences }) => differences)).toEqual([]);
});
