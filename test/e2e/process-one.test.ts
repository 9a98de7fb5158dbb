/** The worker as process 1, as in a container, where a signal without a handler is ignored. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect } from 'vitest';
import { startStopwatch } from '../support/awake.ts';
import { until } from '../support/condition.ts';
import type { Program } from '../support/program.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { testWith } from '../support/tool.ts';

/** A process namespace of its own; whoever is not root needs a user namespace for it. */
const UNSHARE = [
  'unshare',
  ...(process.getuid?.() === 0 ? [] : ['--user', '--map-root-user']),
  '--pid',
  '--fork',
  '--mount-proc',
  '--kill-child',
];
/** Some containers do not allow it. */
const [COMMAND = '', ...WORDS] = UNSHARE;
const allowed = spawnSync(COMMAND, [...WORDS, 'true']).status === 0;
const NEEDS = allowed ? ['unshare'] : ['unshare, or the right to it,'];

/** From now on requests get no answer. */
const STALL = {
  faults: [{ kind: 'stall', when: ({ number }: { number: number }) => number > 5 }] as const,
};

/** The worker itself, by its id outside of the namespace. */
function workerId({ pid }: Program): Promise<number> {
  return until('the worker to be started', () => {
    const [id = ''] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
    // Nobody is signalled by mistake: 0 would be this process and all of its group.
    return id.trim() === '' ? undefined : Number(id);
  });
}

const leases = ({ database }: Scene) =>
  database.query('select from daywalk.windows where lease_id is not null');

testWith(
  NEEDS,
  'the worker as process 1: SIGTERM ends it with 143 within five seconds, leases given back, the last line logged',
  async () => {
    const scene = await setScene(STALL);
    const worker = scene.start(['worker'], { DAYWALK_SETTLE: '0s' }, UNSHARE);
    await scene.api.received(7);
    expect(readFileSync(`/proc/${await workerId(worker)}/status`, 'utf8')).toMatch(
      /^NSpid:\t\d+\t1$/m,
    );
    const elapsed = startStopwatch();
    process.kill(await workerId(worker), 'SIGTERM');
    const ended = await worker.ended;
    expect(ended, ended.stderr).toMatchObject({ code: 143, stdout: '' });
    expect(elapsed()).toBeLessThan(5_000);
    expect(ended.stderr).toMatch(/daywalk: stopped by SIGTERM\n$/);
    expect(await leases(scene)).toEqual([]);
  },
);

testWith(
  NEEDS,
  'the worker as process 1: a second signal ends it at once, even while rows are locked',
  async () => {
    const scene = await setScene(STALL);
    const worker = scene.start(['worker'], { DAYWALK_SETTLE: '0s' }, UNSHARE);
    await scene.api.received(7);
    const client = await scene.database.pool.connect();
    await client.query('begin');
    // One lock, so that it and the worker cannot each wait for the other.
    await client.query('lock table daywalk.windows in exclusive mode');
    const id = await workerId(worker);
    const elapsed = startStopwatch();
    process.kill(id, 'SIGTERM');
    process.kill(id, 'SIGINT');
    const ended = await worker.ended;
    expect([130, 143]).toContain(ended.code);
    // The first alone takes four and a half seconds.
    expect(elapsed()).toBeLessThan(4_000);
    client.release(true);
  },
);
