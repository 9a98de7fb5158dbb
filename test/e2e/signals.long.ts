/** The same stop as in e2e/signals.test.ts, by both signals, and what the verbs say of it until the next start. */
import { expect, test } from 'vitest';
import type { Scene } from '../support/scene.ts';
import { expectStopped } from './stopped.ts';

test.each([
  ['SIGTERM', 143],
  ['SIGINT', 130],
] as const)(
  '%s in the middle of pages: exit code %i, and a second start asks for what is missing only (I1)',
  (signal, code) => expectStopped(signal, code, expectTold),
);

async function expectTold(scene: Scene): Promise<void> {
  expect((await scene.succeed(['status'])).stdout).toMatch(
    /^last run: backfill, .* stopped after .*: [1-9][\d,]* records received$/m,
  );
  expect((await scene.run(['gaps'])).stdout).toContain(
    'begun, not proven yet; the next run goes on with what is stored',
  );
}
