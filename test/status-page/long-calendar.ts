/** A status server with a long calendar in which some days failed and one is walked now, and what axe says of its pages. */
import axe from 'axe-core';
import { expect } from 'vitest';
import { openPage } from '../support/browser.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { fillCalendar, type StatusScene, serveStatus } from '../support/status-scene.ts';

/** Runs within the page. */
const AXE_RUN = `axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] }).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ html }) => html.slice(0, 150)).join(' | ')))`;
export const PHONE = { width: 390, height: 844 };
export const DESK = { width: 1280, height: 900 };
/** At the beginning: should midnight pass meanwhile, the days stay the same. */
const NOW = Date.now();
export const day = (ago: number) => new Date(NOW - ago * 86_400_000).toISOString().slice(0, 10);
export const FAILED = day(9);

/** Serves a calendar of so many days. */
export async function serveCalendar(
  days: number,
): Promise<{ database: TestDatabase; scene: StatusScene }> {
  const database = await createTestDatabase();
  await fillCalendar(database, 'events', day(days), day(1));
  await fillCalendar(database, 'smart-event', day(Math.round(days / 4)), day(1));
  await database.query(
    `update daywalk.windows set state = 'failed', last_error = $2, last_failed_at = clock_timestamp(), failures = 2
      where day = $1::date and stream_id = 1`,
    [FAILED, `the list shifted four times under the walk: ${'x'.repeat(200)}`],
  );
  await database.query(
    `update daywalk.windows set state = 'pending' where day = $1::date and stream_id = 2`,
    [day(30)],
  );
  await database.query(`update daywalk.walks set next_start = 0 where walk_id % 17 = 0`);
  // At any hour one of the two newest days is the one that should be complete by now.
  await database.query(
    `update daywalk.windows set state = 'pending' where day = $1::date and stream_id = 1`,
    [day(2)],
  );
  await database.query(
    `update daywalk.windows set state = 'pending', lease_id = gen_random_uuid(), lease_owner = 'soc-1:4711',
            lease_expires = clock_timestamp() + interval '1 hour' where day = $1::date and stream_id = 1 and kind = 'day'`,
    [day(1)],
  );
  await database.query(
    `insert into daywalk.runs (key, trigger, owner, outcome, error, finished_at, windows_complete)
     select gen_random_uuid(), 'schedule', 'soc-1:4711', o, case when o = 'unavailable' then 'the API is away' end, clock_timestamp(), 3
       from unnest(array['done', 'unavailable', 'gaps']) as o`,
  );
  const scene = await serveStatus(database.url, { streams: ['events', 'smart-event'] });
  return { database, scene };
}

export const PATHS = ['/', `/day/events/${FAILED}`, `/month/events/${FAILED.slice(0, 7)}`];

/** No violation of WCAG 2.1 AA, no fault, nothing wider than the window. */
export async function expectForEverybody(
  url: string,
  paths: readonly string[],
  viewport: typeof PHONE,
  colorScheme: 'light' | 'dark',
): Promise<void> {
  const { page, faults, close } = await openPage({ viewport, colorScheme });
  for (const path of paths) {
    await page.goto(`${url}${path}`);
    await page.evaluate(axe.source);
    const violations = await page.evaluate(AXE_RUN);
    expect([path, colorScheme, violations]).toEqual([path, colorScheme, []]);
    const width = await page.evaluate('document.documentElement.scrollWidth');
    expect([path, width]).toEqual([path, viewport.width]);
  }
  expect(faults).toEqual([]);
  await close();
}
