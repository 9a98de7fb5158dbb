/** Messages: what a webhook is told, in each shape, and that foreign text cannot leave its place in it. */
import { describe, expect, it } from 'vitest';
import { alarmWords, type MessageFormat, shapeMessage } from '../../src/notify/message.ts';
import { wordsOfGone } from '../../src/notify/news.ts';
import { pingUrl } from '../../src/notify/notifier.ts';
import type { Notification } from '../../src/notify/rows.ts';

const since = new Date('2026-03-01T03:15:00Z');
const now = since.getTime() + 7 * 3_600_000;
const PROBLEM = {
  text: 'events: 2026-02-27 failed: why',
  command: 'daywalk backfill --from 2026-02-27',
};

const message = (
  format: MessageFormat,
  kind: Notification['kind'] = 'failing',
  problems: Parameters<typeof alarmWords>[2] = [PROBLEM],
  host = 'soc-1',
) => shapeMessage(alarmWords({ kind, since }, ['events'], problems, now), format, host, now);

describe('json', () => {
  it('is a document', () => {
    const { headers, body } = message('json');
    expect(headers['content-type']).toMatch(/^application\/json/);
    expect(JSON.parse(body)).toEqual({
      event: 'failing',
      title: 'daywalk on soc-1: the export is failing',
      text: 'events: 2026-02-27 failed: why\n  daywalk backfill --from 2026-02-27',
      host: 'soc-1',
      streams: ['events'],
      failing_since: '2026-03-01T03:15:00.000Z',
      at: '2026-03-01T10:15:00.000Z',
      problems: [PROBLEM],
    });
  });
  it('tells of a recovery how long it had failed', () => {
    const told = JSON.parse(message('json', 'recovered', []).body);
    expect([told.event, told.text]).toEqual([
      'recovered',
      'It had failed for 7 h 00 min, since 2026-03-01 03:15 UTC.',
    ]);
  });
});

describe('slack', () => {
  it('is one text, in which nothing foreign is a link or a mention', () => {
    const hostile = { text: '<!channel> <https://evil|click> @here & \u001b[31m', command: null };
    expect(JSON.parse(message('slack', 'failing', [hostile]).body)).toEqual({
      text: 'daywalk on soc-1: the export is failing\n&lt;!channel&gt; &lt;https://evil|click&gt; @\u200bhere &amp; [31m',
    });
  });
});

describe('ntfy', () => {
  it('has its title and urgency in headers of plain letters', () => {
    const host = 'söc\r\nX-Evil: 1';
    const { headers, body } = message('ntfy', 'still failing', [PROBLEM], host);
    expect(headers).toMatchObject({
      title: 'daywalk on s?c X-Evil: 1: the export is still failing',
      priority: 'high',
      tags: 'warning',
    });
    expect(body).toContain('It has been failing for 7 h 00 min.');
    expect(message('ntfy', 'recovered').headers.priority).toBe('default');
  });
  it('has records that are gone looked at', () => {
    const gone = wordsOfGone([{ stream: 'events', day: '2026-03-01', lost: 9, records: 700 }], 1);
    expect(shapeMessage(gone, 'ntfy', 'soc-1', now).headers).toMatchObject({ tags: 'warning' });
  });
});

it('a long list is cut, and says so; a long error too', () => {
  const problems = Array.from({ length: 8 }, (_, index) => ({
    text: `${index}${'x'.repeat(900)}`,
    command: null,
  }));
  const { text } = JSON.parse(message('json', 'failing', problems).body);
  expect(text).toContain('… and 3 more');
  expect(text.length).toBeLessThan(2_000);
});

it.each([
  ['https://hc.example/uuid', 'start', 'https://hc.example/uuid/start?rid=R'],
  ['https://hc.example/uuid', 0, 'https://hc.example/uuid?rid=R'],
  ['https://hc.example/key/slug/?create=1', 3, 'https://hc.example/key/slug/3?create=1&rid=R'],
] as const)('%s pinged with %s', (base, what, url) => {
  expect(pingUrl(base, what, 'R').href).toBe(url);
});
