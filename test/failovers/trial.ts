/** One failover under the running program, and what must hold after it. */
import { expect } from 'vitest';
import { dice } from '../support/dice.ts';
import type { Ended, Program } from '../support/program.ts';
import type { Scene } from '../support/scene.ts';
import { Blow, type Struck } from './blow.ts';
import {
  expectExactNow,
  expectKept,
  expectNothingStuck,
  expectTold,
  type Lost,
  readHeld,
  readWindows,
} from './checks.ts';
import type { Failover } from './plan.ts';
import { DAYS, PRUNED, type Stage } from './stage.ts';

/** What one failover came to: exact, kept and moving, or there would be none. */
export interface Outcome extends Failover, Lost {
  /** From the blow until another node takes writes. */
  readonly awaySeconds: number;
  readonly seconds: number;
  readonly records: number;
  /** The programs that lived through it ended with exit code 0; otherwise the next run did the rest. */
  readonly endedWell: boolean;
}

const BACKFILL = ['backfill', '--from', DAYS.from, '--to', DAYS.to, '--only', 'all'];
const PRUNE = ['prune', '--older-than', '30d', '--yes'];
/** Records of the first day that come late: the programs find them. */
const LATE = 4;
/** They find it out by themselves, or the next run does the rest: gaps, or a database that was away too long. */
const CODES = [0, 3, 5];

/**
 * Plays one failover.
 * @throws what it was found not to keep, with what the windows and the programs say.
 */
export async function sufferFailover(stage: Stage, failover: Failover): Promise<Outcome> {
  const scene = await stage.scene(`trial_${failover.number}`);
  const programs: Program[] = [];
  const start: Scene['start'] = (...all) => {
    const program = scene.start(...all);
    programs.push(program);
    return program;
  };
  try {
    return await play(stage, { ...scene, start }, failover);
  } catch (error) {
    const windows = await readWindows(scene.database).catch(String);
    const said = [windows, ...programs.map((program) => program.said())].join('\n\n');
    throw new Error(`${(error as Error).message}\n\n${said}`, { cause: error });
  }
}

async function play(stage: Stage, scene: Scene, failover: Failover): Promise<Outcome> {
  const began = performance.now();
  const { cluster } = stage;
  arrive(scene, failover.seed);
  const before = await readHeld(scene.database);
  const leader = await cluster.leader();
  const blow = new Blow(cluster, failover, leader, scene.database);
  stage.gate = (statement, moment) => blow.meet(statement, moment);
  const programs = startPrograms(scene, failover);
  const [backfill] = programs.runs;
  const { at, held } = await Promise.race([blow.struck, tooEarly(programs, blow)]);

  // Behind its last look at what it was asked for it cannot know.
  const done = /the walking is done/.test(backfill.said());
  if (failover.way === 'switchover') await blow.over;
  const next = await cluster.leader();
  expect(next.name, 'the node that leads').not.toBe(leader.name);
  const awaySeconds = Math.round((performance.now() - at) / 100) / 10;
  stage.lookAt(next);
  await cluster.revive(leader);

  const ended = await endOf(programs);
  stage.gate = () => 'pass';
  await cluster.settled();
  const pruned = failover.midst === 'pruning' ? PRUNED : null;
  if (pruned !== null) await scene.succeed(PRUNE);
  await scene.succeed(['run']);
  const asynchronous = failover.group === 'asynchronous';
  if (asynchronous && done) await scene.succeed(BACKFILL);

  const records = await expectExactNow(scene, DAYS);
  await expectNothingStuck(scene.database, DAYS);
  const after = await readHeld(scene.database);
  expectKept(asynchronous ? before : held, after, pruned);
  const lost = expectTold(held, after, pruned);
  if (!asynchronous) expect(lost).toEqual({ pagesLost: 0, publicationsLost: 0 });
  return {
    ...failover,
    ...lost,
    awaySeconds,
    records,
    endedWell: ended.every(({ code }) => code === 0),
    seconds: Math.round((performance.now() - began) / 1000),
  };
}

/** The programs of a trial, as processes of their own. */
interface Programs {
  readonly worker: Program;
  /** They end by themselves: a backfill, and what prunes. */
  readonly runs: readonly [Program, ...Program[]];
}

/** A worker, a backfill of the same days beside it, and what prunes where that is the subject. */
function startPrograms(scene: Scene, { midst }: Failover): Programs {
  const worker = scene.start(['worker']);
  const backfill = scene.start(BACKFILL);
  return { worker, runs: midst === 'pruning' ? [backfill, scene.start(PRUNE)] : [backfill] };
}

/** Rejects where the programs have ended before the moment came. */
async function tooEarly({ worker, runs }: Programs, blow: Blow): Promise<Struck> {
  const ended = await Promise.all(runs.map((run) => run.ended));
  await worker.saying(/waiting for the next tick/);
  if (!blow.waits) return blow.struck;
  const said = [...ended.map(({ stderr }) => stderr), worker.said()];
  throw new Error(`the moment never came:\n${said.join('\n')}`);
}

async function endOf({ worker, runs }: Programs): Promise<readonly Ended[]> {
  const ended = await Promise.all(runs.map((run) => run.ended));
  await worker.saying(/waiting for the next tick/);
  worker.kill('SIGTERM');
  const stopped = await worker.ended;
  expect(stopped, stopped.stderr).toMatchObject({ code: 143 });
  for (const { code, stderr } of ended) expect(CODES, stderr).toContain(code);
  return ended;
}

/** Late records of the first day. */
function arrive({ api }: Scene, seed: number): void {
  const random = dice(seed);
  const two = (most: number) => String(Math.floor(random() * most)).padStart(2, '0');
  api.insert(
    Array.from({ length: LATE }, (_, late) => {
      const timestamp = `${DAYS.from}T${two(24)}:${two(60)}:${two(60)}.000Z`;
      return JSON.stringify({ timestamp, id: `${seed}.${late}`, late: true });
    }),
  );
}
