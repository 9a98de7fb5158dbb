/** `npm run failovers`: a Postgres cluster under Patroni fails over in the midst of everything that the program does. */
import { writeFile } from 'node:fs/promises';
import { afterAll, afterEach, inject } from 'vitest';
import { testWith } from '../support/tool.ts';
import { note } from './collect.ts';
import { PROGRAMS } from './patroni.ts';
import { openStage, type Stage } from './stage.ts';
import { sufferFailover } from './trial.ts';

/** A failover takes seconds, and a slow machine minutes. */
const LONGEST_MS = 300_000;

let stage: Stage | undefined;
const leave = async () => {
  await stage?.close();
  stage = undefined;
};

const { due, progress } = inject('failovers');
const proxies = due.some(({ group }) => group === 'proxied') ? ['haproxy', 'pgbouncer'] : [];
for (const failover of due) {
  const { number, group, way, midst } = failover;
  testWith(
    [...PROGRAMS, ...proxies],
    `${number} ${group}: ${way} in the midst of ${midst} (I1 to I4, I6)`,
    async () => {
      if (stage?.group !== group) {
        await leave();
        stage = await openStage(group);
      }
      const outcome = await sufferFailover(stage, failover).catch(async (error: Error) => {
        await writeFile(`${progress}.${number}.txt`, String(error.stack));
        throw error;
      });
      await note(progress, outcome);
    },
    LONGEST_MS,
  );
}

// What a failed one left is no beginning for the next.
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await leave();
});
afterAll(leave);
