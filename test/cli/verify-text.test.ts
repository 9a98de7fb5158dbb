/** The sentences about what was compared with the source. */
import { expect, it } from 'vitest';
import { describeVerdicts } from '../../src/cli/terminal/verify-text.ts';
import type { WindowVerdict } from '../../src/ledger/verify-source.ts';

it('advises nobody to compare page by page who just did, and got no answer', () => {
  const window = { stream: 'events', day: '2026-03-01' } as WindowVerdict['window'];
  const verdicts = [{ window, state: 'unknown', differences: ['the index is away'] }] as const;
  const said = (deep: boolean) =>
    describeVerdicts({ verdicts, deep, left: { tiered: 0, pruned: 0 }, elapsedMs: 1 }).join('\n');
  expect(said(true)).toContain('(0 pages fetched)');
  expect(said(false)).toContain('by --deep only');
});
