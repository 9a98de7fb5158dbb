/** `npm run limits`: how much of what an API allows is used, and how much is refused, over real HTTP; written to docs/reliability.md. */

import { createServer } from 'node:http';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { type Clock, systemClock } from '../../src/clock.ts';
import { openSource } from '../../src/source/source.ts';
import { bucket } from '../support/rate-servers.ts';
import { markdownTable, writeFigures } from '../support/reliability-page.ts';
import { setScene } from '../support/scene.ts';
import { SOURCE } from '../support/source-options.ts';

const PER_SECOND = 20;
const REAL_MS = 20_000;
/** Workers that know nothing have minutes, so that finding the limit is not most of it. */
const HASTE = 10;
const FINDING_MS = { 1: 20_000, 4: 45_000 };
const rows: string[][] = [];

interface Measured {
  readonly used: number;
  readonly refused: number;
}

function note(what: string, seconds: string, { used, refused }: Measured): void {
  rows.push([what, seconds, `${used.toFixed(1)} %`, `${refused.toFixed(2)} %`]);
}

/** The real clock, `factor` times as fast: minutes of pacing in seconds, with real sockets. */
function hastened(factor: number): Clock {
  return {
    ...systemClock,
    monotonic: () => systemClock.monotonic() * factor,
    sleep: (ms, signal) => systemClock.sleep(ms / factor, signal),
    timeout: (ms) => systemClock.timeout(ms),
  };
}

describe('workers that know nothing', () => {
  test.each([1, 4] as const)('%i, ten times as fast as in life', async (workers) => {
    const clock = hastened(HASTE);
    const allows = bucket(PER_SECOND, PER_SECOND);
    const began = clock.monotonic();
    let accepted = 0;
    let refused = 0;
    const server = createServer((_, response) => {
      const { ok } = allows(clock.monotonic() - began);
      if (ok) accepted++;
      else refused++;
      response.writeHead(ok ? 200 : 429).end('{"data":[]}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const stop = new AbortController();
    const request = {
      resource: 'events',
      filters: {},
      from: '2026-03-01 00:00:00',
      to: '2026-03-01 23:59:59',
      start: 0,
      length: 50,
    } as const;
    const sources = Array.from({ length: workers }, () =>
      openSource({
        ...SOURCE,
        baseUrl: `http://127.0.0.1:${port}`,
        clock,
        retryTimeMs: 3_600_000,
      }),
    );
    const windows = sources.flatMap((source) =>
      Array.from({ length: 4 }, async () => {
        const signal = AbortSignal.any([stop.signal]);
        while (!signal.aborted) await source.fetchPage(request, { signal }).catch(() => {});
      }),
    );
    await systemClock.sleep(FINDING_MS[workers]);
    const seconds = (clock.monotonic() - began) / 1000;
    const measured = {
      used: (100 * accepted) / (PER_SECOND * seconds),
      refused: (100 * refused) / (accepted + refused),
    };
    stop.abort(new Error('over'));
    await Promise.all(windows);
    await Promise.all(sources.map((source) => source.close()));
    note(
      `${workers === 1 ? 'one worker' : `${workers} workers`}, no rate set`,
      `${seconds.toFixed(0)} (a clock ten times as fast)`,
      measured,
    );
    expect(measured.used).toBeGreaterThan(90);
    expect(measured.refused).toBeLessThan(1);
  });
});

describe('processes with rate=20/s, on one database', () => {
  test.each([1, 4])('%i', async (count) => {
    const scene = await setScene({
      rateLimit: { perSecond: PER_SECOND, burst: PER_SECOND, retryAfter: 'none' },
    });
    const args = ['backfill', '--from', '2026-02-01', '--to', '2026-03-31'];
    const environment = { DAYWALK_RATE: '20/s', DAYWALK_PAGE_LENGTH: '20' };
    const programs = Array.from({ length: count }, () => scene.start(args, environment));
    while (scene.api.counts.requests === 0) await systemClock.sleep(5);
    const began = systemClock.monotonic();
    await systemClock.sleep(REAL_MS);
    const seconds = (systemClock.monotonic() - began) / 1000;
    const accepted = scene.api.counts.byStatus[200] ?? 0;
    const refused = scene.api.counts.byStatus[429] ?? 0;
    for (const program of programs) program.kill('SIGTERM');
    await Promise.all(programs.map(({ ended }) => ended));
    const measured = {
      used: (100 * accepted) / (PER_SECOND * seconds),
      refused: (100 * refused) / (accepted + refused),
    };
    note(
      `${count === 1 ? 'one process' : `${count} processes`} of the program, \`rate: 20/s\``,
      seconds.toFixed(0),
      measured,
    );
    expect(measured.used).toBeGreaterThan(90);
    expect(measured.refused).toBeLessThan(1);
  });
});

afterAll(() =>
  writeFigures(
    'limits',
    markdownTable(['who asks', 'seconds#', 'used of 20 requests a second#', 'refused#'], rows),
  ),
);
