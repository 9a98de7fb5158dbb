/** The page on a phone while much goes wrong: what to do and the calendar stand on the first screen. */
import { expect } from 'vitest';
import { openPage } from '../support/browser.ts';
import { createTestDatabase } from '../support/database.ts';
import { dayAgo } from '../support/days.ts';
import { fillCalendar, serveStatus } from '../support/status-scene.ts';
import { testWith } from '../support/tool.ts';

const PHONE = { width: 390, height: 844 };

testWith(
  ['chromium'],
  'forty failed days leave the calendar and Copy in sight, and months have sums',
  async () => {
    const server = await createTestDatabase();
    await fillCalendar(server, 'events', dayAgo(200), dayAgo(1));
    await server.query(
      `insert into daywalk.days (stream_id, day, records, gone, lost, pages, bytes, proof, revision)
       select stream_id, day, 1000 + (window_id * 7919) % 9000, 0, 0, 10, 900000, 'total', 1 from daywalk.windows where kind = 'day'`,
    );
    await server.query(
      `update daywalk.windows set state = 'failed', failures = 2, last_failed_at = clock_timestamp(),
            last_error = 'https://soc.example/api/events (start ' || window_id || ', length 1000): answered 500 with "Internal error, a long story that nobody wants to read on a phone, and neither elsewhere, ' || repeat('at some line of it ', 20) || '"'
      where kind = 'day' and day between $1::date and $2::date`,
      [dayAgo(41), dayAgo(2)],
    );
    await server.query(
      `insert into daywalk.runs (key, trigger, owner, outcome, finished_at, started_at)
     select gen_random_uuid(), 'schedule', 'soc-1', 'done', now() - n * interval '1 hour', now() - n * interval '1 hour' from generate_series(1, 30) as n`,
    );
    const scene = await serveStatus(server.url);
    const { page, faults, close } = await openPage({
      viewport: PHONE,
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.goto(scene.url);
    const bottomOf = async (what: string) => {
      const box = await page.locator(what).first().boundingBox();
      return { top: box?.y ?? 9999, right: (box?.x ?? 9999) + (box?.width ?? 0) };
    };
    expect((await bottomOf('svg.calendar')).top).toBeLessThan(PHONE.height - 150);
    const copy = await bottomOf('pre.command button');
    expect(copy.right).toBeLessThanOrEqual(PHONE.width);
    expect(await page.locator('.problems > li').count()).toBe(1);
    expect(await page.locator('#runs').count()).toBe(0);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.width);

    await page.goto(`${scene.url}/month/events/${dayAgo(70).slice(0, 7)}`);
    expect(await page.locator('tfoot').textContent()).toMatch(/In all.*complete/);
    expect(await page.locator('.volume').count()).toBe(1);
    await page.goto(`${scene.url}/month/events/${dayAgo(20).slice(0, 7)}`);
    expect(await page.locator('tr.note').count()).toBe(1);
    await page.goto(`${scene.url}/day/events/${dayAgo(70)}`);
    const [first, second] = await page.locator('.figures > div').all();
    expect((await second?.boundingBox())?.y).toBe((await first?.boundingBox())?.y);
    expect(faults).toEqual([]);
    await close();
    await scene.close();
  },
);
