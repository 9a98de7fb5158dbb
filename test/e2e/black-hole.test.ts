/** A database behind a line that is silent: no verb waits for ever, whenever the silence begins. */
import { expect, test } from 'vitest';
import { startStopwatch } from '../support/awake.ts';
import { until } from '../support/condition.ts';
import { closeGate } from '../support/gate.ts';
import { layLine } from '../support/line.ts';
import { andAtNight } from '../support/night.ts';
import { setScene } from '../support/scene.ts';

const HASTY = { DAYWALK_DATABASE_PATIENCE: '1s', DAYWALK_STATEMENT_TIMEOUT: '1s' };
/** Of a program that works before: a machine that stands still for a moment must not end it. */
const UNHURRIED = { DAYWALK_DATABASE_PATIENCE: '5s', DAYWALK_STATEMENT_TIMEOUT: '5s' };
/** Patience, one statement, and what closing the connections may take; by default patience alone is longer. */
const LONGEST_MS = 25_000;

test.each(andAtNight<[string[]]>([[['run']], [['status']]], [[['migrate']]]))(
  'silent from the beginning: %s ends with exit code 5',
  async (args) => {
    const scene = await setScene();
    const elapsed = startStopwatch();
    const line = await layLine(Number(new URL(scene.database.url).port || 5432));
    line.freeze();
    const ended = await scene.run(args, { ...HASTY, DATABASE_URL: line.over(scene.database.url) });
    expect(ended, ended.stderr).toMatchObject({ code: 5, stdout: '' });
    expect(elapsed()).toBeLessThan(LONGEST_MS);
    await line.close();
  },
);

test('silent in mid-run: exit code 5, and connections that cannot be closed do not keep the program', async () => {
  // The program cannot come to its end before the line is silent.
  const gate = closeGate();
  const respond = ({ number }: { number: number }) =>
    number < 12 ? undefined : gate.passed.then(() => undefined);
  const scene = await setScene({ respond });
  const line = await layLine(Number(new URL(scene.database.url).port || 5432));
  const program = scene.start(['backfill', '--from', '2026-03-01', '--to', '2026-03-04'], {
    ...UNHURRIED,
    DATABASE_URL: line.over(scene.database.url),
  });
  await until(
    'a page',
    async () => (await scene.database.query('select from daywalk.pages limit 1')).length,
  );
  line.freeze();
  gate.open();
  const elapsed = startStopwatch();
  const ended = await program.ended;
  expect(ended, ended.stderr).toMatchObject({ code: 5, stdout: '' });
  expect(elapsed()).toBeLessThan(LONGEST_MS);
  await line.close();
});
