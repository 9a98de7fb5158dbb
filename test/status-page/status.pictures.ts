/** The pictures of the status page in docs/images, from a year of the simulator's data. */

import { statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startSimulator } from '../../simulator/simulator.ts';
import { systemClock } from '../../src/clock.ts';
import type { Stream } from '../../src/model.ts';
import { openSource } from '../../src/source/source.ts';
import { catchUp } from '../../src/walk/run.ts';
import { openPage } from '../support/browser.ts';
import { createTestDatabase } from '../support/database.ts';
import { exporterParts, OPTIONS } from '../support/exporter.ts';
import { SOURCE } from '../support/source-options.ts';
import { serveStatus } from '../support/status-scene.ts';
import { openDatabase } from '../support/store.ts';

const MOST_BYTES = 150_000;
const STREAMS: readonly Stream[] = [
  { name: 'events', resource: 'events', filters: {} },
  { name: 'smart-event', resource: 'smart-event', filters: {} },
];
const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);

test('docs/images/status.png and status-dark.png', async () => {
  const api = await startSimulator({
    key: 'key',
    seed: 'pictures',
    eventsPerDay: 240,
    dayVariation: 0.6,
    emptyDays: 0.02,
  });
  const server = await createTestDatabase();
  const database = openDatabase(server.url, { connections: 6 });
  const source = openSource({ ...SOURCE, baseUrl: api.url, clock: systemClock });
  const parts = exporterParts({ database, source, owner: 'soc-1:4711' });
  const options = {
    ...OPTIONS,
    streams: STREAMS,
    since: day(430),
    concurrency: 4,
    pageLength: 1000,
  };
  await catchUp(parts, options, 'schedule', new AbortController().signal);
  await server.query(
    `update daywalk.windows set state = 'failed', failures = 2, last_failed_at = clock_timestamp(),
            last_error = 'GET /api/events answered 500 six times' where day = $1::date and stream_id = 1`,
    [day(17)],
  );
  const scene = await serveStatus(server.url, { streams: STREAMS.map(({ name }) => name) });
  scene.activity.nextTick = Date.now() + 39 * 60_000;
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page, close } = await openPage({ colorScheme, viewport: { width: 1120, height: 960 } });
    await page.goto(scene.url);
    const path = `docs/images/status${colorScheme === 'dark' ? '-dark' : ''}.png`;
    await page.screenshot({ path });
    expect(statSync(path).size).toBeLessThan(MOST_BYTES);
    await close();
  }
  await scene.close();
  await source.close();
  await api.close();
});
