/** Workers that ask a server that allows 20 requests a second, over minutes of virtual time. */
import { expect } from 'vitest';
import { Limiter } from '../../src/source/limiter.ts';
import { ownBudget } from '../support/own-budget.ts';
import { fixedWindow, type RateServer } from '../support/rate-servers.ts';
import { virtualTime } from '../support/virtual-time.ts';

export const PER_SECOND = 20;

export interface Trial {
  readonly workers?: number;
  /** Requests that each worker wants under way. */
  readonly windows?: number;
  /** From the request to the answer, on average. */
  readonly latencyMs?: number;
  readonly seconds?: number;
  /** A budget that all workers share. */
  readonly rate?: number;
  readonly seed?: number;
}

/** Lets workers ask as fast as they may. @returns shares in per cent, and how much each worker had. */
export async function ask(server: RateServer, trial: Trial = {}) {
  const { workers = 1, windows = 4, latencyMs = 5, seconds = 200, rate, seed } = trial;
  const { clock, pass } = virtualTime(seed);
  const budget = rate === undefined ? undefined : ownBudget(rate, clock);
  const accepted = Array.from({ length: workers }, () => 0);
  let refused = 0;
  const half = () => clock.sleep((latencyMs / 2) * (0.5 + clock.random()));
  const window = async (limiter: Limiter, worker: number) => {
    const { signal } = new AbortController();
    for (;;) {
      const permit = await limiter.acquire({ purpose: 'scheduled' }, signal);
      await half();
      const { ok, retryAfterMs = null, quota = null } = server(clock.monotonic());
      await half();
      if (ok) {
        accepted[worker] = (accepted[worker] ?? 0) + 1;
        permit.release({ kind: 'answered', quota });
      } else {
        refused++;
        permit.release({ kind: 'refused', retryAfterMs, quota });
      }
    }
  };
  for (let worker = 0; worker < workers; worker++) {
    const limiter = new Limiter({
      clock,
      most: windows,
      pauseMs: 1000,
      longestPauseMs: 15_000,
      budget,
    });
    for (let index = 0; index < windows; index++) void window(limiter, worker);
  }
  await pass(seconds * 1000);
  const all = accepted.reduce((sum, one) => sum + one, 0);
  return {
    used: (100 * all) / (PER_SECOND * seconds),
    refused: (100 * refused) / (all + refused),
    shares: accepted.map((one) => (100 * one) / all),
  };
}

/** Four workers that know nothing of each other find its limit. */
export async function expectFound(server: () => RateServer, trial: Trial = {}): Promise<void> {
  const { used, refused, shares } = await ask(server(), { workers: 4, seconds: 600, ...trial });
  expect(used).toBeGreaterThan(90);
  expect(refused).toBeLessThan(1);
  for (const share of shares) expect(share).toBeGreaterThan(5);
  // What finding the limit costs: all that was under way at the first refusal, and little more.
  const finding = await ask(server(), { workers: 4, seconds: 100, ...trial });
  expect(finding.refused).toBeLessThan(2.5);
}

/** Four workers share a quota that is told. */
export async function expectShared(seed: number): Promise<void> {
  const trial = { workers: 4, seconds: 600, seed: seed * 7919 };
  const { used, refused, shares } = await ask(fixedWindow(20, 1000, true), trial);
  expect(used).toBeGreaterThan(90);
  expect(refused).toBeLessThan(1);
  for (const share of shares) expect(share).toBeGreaterThan(5);
}

/** Refusals that name a time and do not come from the rate cost what they name, and no more; with so many seeds. */
export async function expectNotSlowedDown(count: number, seeds: number): Promise<void> {
  for (let seed = 1; seed <= seeds; seed++) {
    const { clock } = virtualTime(seed * 977);
    let [named, namedUntil, namedBy, accepted, lastAt] = [0, 0, 0, 0, 0];
    const server: RateServer = (now) => {
      const ok = clock.random() >= 0.08;
      if (ok && ++accepted === count) [lastAt, namedBy] = [now, named];
      if (ok) return { ok };
      if (now > namedUntil) {
        named += 1000;
        namedUntil = now + 1000;
      }
      return { ok, retryAfterMs: 1000 };
    };
    await ask(server, { seconds: count / 5, seed });
    expect(accepted).toBeGreaterThan(count);
    expect(lastAt).toBeLessThan(1.2 * namedBy + 1000);
  }
}
