/** Pacing, whatever the API answers: named times are obeyed, pauses are bounded, and the pace falls for the rate alone. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Pacing } from '../../src/source/pacing.ts';

const PAUSE_MS = 1000;
const LONGEST_MS = 15_000;

/** One request: how long after it could go it goes, and how long its answer takes; what it is. */
const request = (retryAfterMs: fc.Arbitrary<number | null>) =>
  fc.record({
    lateMs: fc.nat(2000),
    answerMs: fc.nat(500),
    refused: fc.boolean(),
    retryAfterMs,
    random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  });
const named = fc.integer({ min: 1, max: 900_000 });
type Asked = typeof request extends (of: never) => fc.Arbitrary<infer One> ? One : never;

/** Sends them one after the other, each as soon as it may go and a little later, and looks at what is so after each. */
function ask(requests: readonly Asked[], look: (pacing: Pacing, now: number, one: Asked) => void) {
  const pacing = new Pacing({ pauseMs: PAUSE_MS, longestPauseMs: LONGEST_MS, spare: 4 });
  let now = 0;
  for (const one of requests) {
    now = Math.max(now, pacing.opensAt(now)[1]) + one.lateMs;
    const sent = pacing.sent(now);
    now += one.answerMs;
    pacing.ended(sent);
    if (one.refused) pacing.refused(one, sent, now, one.random);
    else pacing.accepted(sent, now);
    look(pacing, now, one);
  }
}

test('nobody goes before the time that a refusal names, nor much later because of it', () => {
  fc.assert(
    fc.property(fc.array(request(named), { maxLength: 50 }), (requests) => {
      ask(requests, (pacing, now, { refused, retryAfterMs }) => {
        if (!refused || retryAfterMs === null) return;
        expect(pacing.opensAt(now)[1]).toBeGreaterThanOrEqual(now + retryAfterMs - 1e-6);
        expect(pacing.pausedMs(now)).toBeLessThanOrEqual(retryAfterMs * 1.1 + 1e-6);
      });
    }),
  );
});

test('a pause that nobody names is from 1 s to 16.5 s, and the first one after an answer 1.1 s at most', () => {
  fc.assert(
    fc.property(fc.array(request(fc.constant(null)), { maxLength: 50 }), (requests) => {
      let accepted = true;
      ask(requests, (pacing, now, { refused }) => {
        const paused = pacing.pausedMs(now);
        if (refused) {
          expect(paused).toBeGreaterThanOrEqual(PAUSE_MS - 1e-6);
          expect(paused).toBeLessThanOrEqual((accepted ? PAUSE_MS : LONGEST_MS) * 1.1 + 1e-6);
        }
        accepted = !refused;
      });
    }),
  );
});

test('refusals that name times make no pace as long as the first request after each is accepted', () => {
  fc.assert(
    fc.property(fc.array(request(named), { maxLength: 100 }), (given) => {
      const requests = given.map((one, index) => ({
        ...one,
        refused: one.refused && index > 0 && given[index - 1]?.refused === false,
      }));
      ask(requests, (pacing, now) => expect(pacing.rate(now)).toBeNull());
    }),
  );
});

test('whatever comes, the pace is one a second at least, and the next request goes some time', () => {
  fc.assert(
    fc.property(fc.array(request(fc.option(named))), (requests) => {
      ask(requests, (pacing, now) => {
        expect(pacing.rate(now) ?? 1).toBeGreaterThanOrEqual(1);
        const wait = pacing.opensAt(now)[1] - now;
        expect(wait).toBeLessThanOrEqual(Math.max(1000, pacing.pausedMs(now)) + 1e-6);
      });
    }),
  );
});
