/** What the status page tells of a pass that runs. */
import { expect, test } from 'vitest';
import { RunProgress } from '../../src/cli/terminal/run-progress.ts';
import type { WindowKind } from '../../src/model.ts';
import { noActivity } from '../../src/status-page/activity.ts';
import { now } from '../../src/status-page/pages/status-page.ts';

const window = (windowId: number, kind: WindowKind) => ({
  windowId,
  kind,
  stream: 'events',
  day: '2026-03-05',
  from: '2026-03-05 00:00:00',
  to: '2026-03-05 23:59:59',
});
const proof = { kind: 'probe', rule: 'C4', records: 1, why: '' } as const;

test('cuts between days are no windows of the pass: they are not planned as such either', () => {
  const run = new RunProgress(0);
  const activity = { ...noActivity(), pass: () => run.state(1_000) };
  const line = () => now({ running: [] }, activity).text;
  run.add({ kind: 'planned', windows: 2 }, 0);
  run.add({ kind: 'complete', window: window(1, 'day'), proof }, 1);
  run.add({ kind: 'complete', window: window(2, 'cut'), proof }, 1);
  run.add({ kind: 'unchanged', window: window(3, 'cut') }, 1);
  expect(line()).toContain('1 of 2 windows of this pass, 0 records, about 1.0 s left');
  run.add({ kind: 'complete', window: window(4, 'day'), proof }, 1);
  run.add({ kind: 'claimed', window: window(5, 'cut') }, 1);
  expect(line()).toContain('2 of 2 windows of this pass, 0 records</p>');
  expect(now({ running: [] }, noActivity()).text).toBe('');
});
