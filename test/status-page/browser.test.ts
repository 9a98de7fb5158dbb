/** The pages in a real browser: for everybody, with the keyboard, on a phone, without JavaScript, and fresh by themselves. */
import axe from 'axe-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { openPage } from '../support/browser.ts';
import { until } from '../support/condition.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { fillCalendar, type StatusScene, serveStatus } from '../support/status-scene.ts';
import { pathOf, testWith } from '../support/tool.ts';

/** Runs within the page. */
const AXE_RUN = `axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] }).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ': ' + nodes.slice(0, 3).map(({ html }) => html.slice(0, 150)).join(' | ')))`;
const PHONE = { width: 390, height: 844 };
const DESK = { width: 1280, height: 900 };
/** At the beginning: should midnight pass meanwhile, the days stay the same. */
const NOW = Date.now();
const day = (ago: number) => new Date(NOW - ago * 86_400_000).toISOString().slice(0, 10);
const FAILED = day(9);

let database: TestDatabase;
let scene: StatusScene;

beforeAll(async () => {
  if (pathOf('chromium') === undefined) return;
  database = await createTestDatabase();
  await fillCalendar(database, 'events', day(1_100), day(1));
  await fillCalendar(database, 'smart-event', day(300), day(1));
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
  scene = await serveStatus(database.url, { streams: ['events', 'smart-event'] });
});
afterAll(() => scene?.close());

testWith(
  ['chromium'],
  'no violation of WCAG 2.1 AA, no fault, nothing wider than the window: phone and desk, light and dark',
  async () => {
    const paths = ['/', `/day/events/${FAILED}`, `/month/events/${FAILED.slice(0, 7)}`];
    for (const [viewport, colorScheme] of [
      [PHONE, 'light'],
      [DESK, 'dark'],
    ] as const) {
      const { page, faults, close } = await openPage({ viewport, colorScheme });
      for (const path of paths) {
        await page.goto(`${scene.url}${path}`);
        await page.evaluate(axe.source);
        const violations = await page.evaluate(AXE_RUN);
        expect([path, colorScheme, violations]).toEqual([path, colorScheme, []]);
        const width = await page.evaluate('document.documentElement.scrollWidth');
        expect([path, width]).toEqual([path, viewport.width]);
      }
      expect(faults).toEqual([]);
      await close();
    }
  },
);

testWith(
  ['chromium'],
  'with the keyboard: to the failed day, from there by arrows, and into its page',
  async () => {
    const { page, faults, close } = await openPage({ viewport: DESK });
    await page.goto(`${scene.url}/`);
    const focused = () =>
      page.evaluate(
        `(() => { const e = document.activeElement; return (e.getAttribute('href') || e.className || e.tagName).toString(); })()`,
      );
    const stops: unknown[] = [];
    for (let press = 0; press < 60 && stops.at(-1) !== `cell`; press++) {
      await page.keyboard.press('Tab');
      const inCalendar = await page.evaluate(
        `Boolean(document.activeElement.closest('svg.calendar') && document.activeElement.querySelector('use'))`,
      );
      stops.push(
        inCalendar && (await focused()) === `day/events/${FAILED}` ? 'cell' : await focused(),
      );
    }
    expect(stops[0]).toBe('#content');
    expect(stops.at(-1)).toBe('cell');
    // Each complete day would be a stop of its own; they are reached by arrows, or by their month.
    expect(stops.length).toBeLessThan(60);
    const sameMonth = FAILED.slice(8) !== '01';
    await page.keyboard.press(sameMonth ? 'ArrowLeft' : 'ArrowRight');
    expect(await focused()).toBe(`day/events/${sameMonth ? day(10) : day(8)}`);
    await page.keyboard.press(sameMonth ? 'ArrowRight' : 'ArrowLeft');
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/day/events/${FAILED}`);
    expect(await page.textContent('h1')).toContain('failed');
    expect(faults).toEqual([]);
    await close();
  },
);

testWith(['chromium'], 'without JavaScript everything is there and leads on', async () => {
  const { page, close } = await openPage({ viewport: PHONE, javaScriptEnabled: false });
  await page.goto(`${scene.url}/`);
  expect(await page.locator('h1').textContent()).toMatch(/^events is catching up: /);
  expect(await page.locator('svg.calendar').count()).toBeGreaterThan(3);
  expect(await page.locator('section.now li').count()).toBe(1);
  await page.locator('ul.problems a').first().click();
  expect(await page.locator('pre.command').first().textContent()).toMatch(/^daywalk /);
  await page.locator('nav.ways a').nth(1).click();
  expect(await page.locator('h1').textContent()).toMatch(/^events, /);
  await page.locator('nav.ways a').first().click();
  expect(new URL(page.url()).pathname).toBe('/');
  await close();
});

testWith(['chromium'], 'what runs now stays fresh by itself', async () => {
  const { page, faults, close } = await openPage({ viewport: DESK });
  await page.clock.install();
  await page.goto(`${scene.url}/`);
  expect(await page.textContent('section.now')).toContain('soc-1:4711');
  await database.query(
    `update daywalk.windows set lease_owner = 'soc-2:1' where lease_owner = 'soc-1:4711'`,
  );
  await until('the new owner', async () => {
    await page.clock.runFor(5_100);
    return (await page.textContent('section.now'))?.includes('soc-2:1');
  });
  expect(faults).toEqual([]);
  await close();
});
