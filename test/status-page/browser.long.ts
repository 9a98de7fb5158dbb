/** What ./browser.test.ts leaves to the night: every page on every screen, without JavaScript, and fresh by itself, over three years. */
import { afterAll, beforeAll, expect } from 'vitest';
import { openPage } from '../support/browser.ts';
import { until } from '../support/condition.ts';
import type { TestDatabase } from '../support/database.ts';
import type { StatusScene } from '../support/status-scene.ts';
import { pathOf, testWith } from '../support/tool.ts';
import { DESK, expectForEverybody, PATHS, PHONE, serveCalendar } from './long-calendar.ts';

let database: TestDatabase;
let scene: StatusScene;
beforeAll(async () => {
  if (pathOf('chromium') !== undefined) ({ database, scene } = await serveCalendar(1_100));
});
afterAll(() => scene?.close());

testWith(
  ['chromium'],
  'no violation of WCAG 2.1 AA, no fault, nothing wider than the window: phone and desk, light and dark',
  async () => {
    for (const viewport of [PHONE, DESK])
      for (const scheme of ['light', 'dark'] as const)
        await expectForEverybody(scene.url, PATHS, viewport, scheme);
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
