/** One random server, exported and judged. */
import type { TrialDatabase } from '../trial.ts';
import { exportInPasses } from './export.ts';
import { Judge, type JudgedDay } from './judge.ts';
import { type Nature, natureOf, type ServerClass } from './nature.ts';
import { type Exchange, startServer } from './server.ts';
import { World } from './world.ts';

/** What came of one server. */
export interface Trial {
  readonly seed: number;
  readonly class: ServerClass;
  readonly nature: Nature;
  readonly days: readonly JudgedDay[];
  /** What was shown once and is not any more. */
  readonly lost: readonly string[];
  readonly requests: number;
  readonly least: number;
  readonly kills: number;
  readonly stops: readonly string[];
  readonly ms: number;
  readonly exchanges: readonly Exchange[];
}

export async function tryServer(seed: number, database: TrialDatabase): Promise<Trial> {
  const began = performance.now();
  const nature = natureOf(seed);
  const world = new World(nature);
  const server = await startServer(nature, world);
  const judge = new Judge(nature, world, (sql, values) => database.query(sql, values));
  try {
    const { kills, stops } = await exportInPasses(nature, server, database, () => judge.look());
    const days = judge.judge();
    const length = Math.min(nature.pageLength, nature.maxLength?.limit ?? Infinity);
    return {
      seed,
      class: nature.class,
      nature,
      days,
      lost: judge.lost,
      requests: world.requests,
      least: days.reduce((sum, day) => sum + Math.max(1, Math.ceil(day.records / length)), 0),
      kills,
      stops,
      ms: Math.round(performance.now() - began),
      exchanges: server.exchanges,
    };
  } finally {
    await server.close();
  }
}
