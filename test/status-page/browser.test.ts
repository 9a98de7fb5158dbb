/** The pages in a real browser: for everybody, and with the keyboard. */
import { afterAll, beforeAll, expect } from 'vitest';
import { openPage } from '../support/browser.ts';
import type { StatusScene } from '../support/status-scene.ts';
import { pathOf, testWith } from '../support/tool.ts';
import { DESK, expectForEverybody, FAILED, PATHS, PHONE, serveCalendar } from './long-calendar.ts';

let scene: StatusScene;
beforeAll(async () => {
  if (pathOf('chromium') !== undefined) ({ scene } = await serveCalendar(400));
});
afterAll(() => scene?.close());

testWith(
  ['chromium'],
  'no violation of WCAG 2.1 AA, no fault, nothing wider than the window: the pages in turn on a phone and a desk',
  async () => {
    const [all = '', ...below] = PATHS;
    await expectForEverybody(scene.url, [all], PHONE, 'light');
    await expectForEverybody(scene.url, below, DESK, 'dark');
  },
);

testWith(['chromium'], 'with the keyboard: to the failed day, and into its page', async () => {
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
  // Each complete day would be a stop of its own; they are reached by their month.
  expect(stops.length).toBeLessThan(60);
  await page.keyboard.press('Enter');
  await page.waitForURL(`**/day/events/${FAILED}`);
  expect(await page.textContent('h1')).toContain('failed');
  expect(faults).toEqual([]);
  await close();
});
