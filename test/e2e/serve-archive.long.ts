/** More of `daywalk serve-archive` than e2e/serve-archive.test.ts: archives of every envelope, over more days, and a port that is taken. */
import { describe, expect, test } from 'vitest';
import type { SimulatorOptions } from '../../simulator/simulator.ts';
import { setScene } from '../support/scene.ts';
import { expectSameCopied, SETTINGS, serve } from './archives.ts';

const STORED = ['2026-02-28', '2026-03-04'] as const;
const COPIED = ['2026-03-01', '2026-03-02', '2026-03-03'];

describe('daywalk exports the archive from the archive', () => {
  test.each<[string, SimulatorOptions]>([
    [
      'datatables with a total of the whole store',
      { envelope: 'datatables', totals: 'unfiltered' },
    ],
    ['hits, total a lower bound', { envelope: 'hits', totals: { cap: 100 } }],
    [
      'nested, the total a text, split windows',
      { envelope: 'nested', totals: 'string', offsetCap: { limit: 80, answer: 400 } },
    ],
    [
      'a bare array without totals, exact comparison of fractions',
      { envelope: 'array', subSecond: 'exact' },
    ],
  ])('%s', (_, options) => expectSameCopied(options, { stored: STORED, copied: COPIED }));

  test('cuts too, where the day behind them is there', () =>
    expectSameCopied(
      { eventsPerDay: 230, subSecond: 'exact' },
      { stored: STORED, copied: COPIED.slice(0, 2) },
    ));
});

test('a port that is taken', async () => {
  const { scene, url } = await serve(await setScene());
  const taken = await scene.run(['serve-archive'], {
    ...SETTINGS,
    DAYWALK_ARCHIVE_LISTEN: new URL(url).host,
  });
  expect(taken).toMatchObject({ code: 2 });
  expect(taken.stderr).toMatch(
    /the archive cannot be served at 127\.0\.0\.1:\d+: another program uses this port[\s\S]*--archive-listen/,
  );
});
