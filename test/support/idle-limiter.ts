/** What a limiter says that nobody asks anything of. */
import type { LimiterState } from '../../src/source/limiter.ts';

export const IDLE: LimiterState = {
  limit: 4,
  most: 4,
  underWay: 0,
  waiting: 0,
  why: null,
  pace: null,
  pausedMs: 0,
  requests: 0,
  refused: 0,
};
