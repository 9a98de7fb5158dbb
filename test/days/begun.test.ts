/** A day of which pages are stored that are not proven yet: told as such, not as one that nobody has walked. */
import { expect, it } from 'vitest';
import { readGaps, readRunning } from '../../src/days/coverage-rows.ts';
import { readStreamDays } from '../../src/days/covered-days.ts';
import { describeGaps } from '../../src/days/gaps.ts';
import { readDayStory } from '../../src/days/story-rows.ts';
import { describeStory } from '../../src/days/story-text.ts';
import type { Database } from '../../src/store/database.ts';
import { learn, readRestless } from '../../src/store/evidence/learned.ts';
import type { TestDatabase } from '../support/database.ts';
import { endedWalk, leaseWindow, textsOf, walkPages, windowOf } from '../support/publishing.ts';
import { DAY, expireLeases, freshStore, planDays } from '../support/store.ts';

let server: TestDatabase;
let database: Database;

freshStore((store) => {
  ({ server, database } = store);
});

/** Walked to its end; the walk of a half has begun, as evidence. */
async function begun(): Promise<number> {
  const streamId = await planDays(database);
  const window = await leaseWindow(database, await windowOf(database, streamId, DAY));
  await endedWalk(database, window, [textsOf([1, 2]), textsOf([3])]);
  await walkPages(database, window, [[1]], { role: 'half' });
  return streamId;
}

it('while it is proven, all that is stored of it counts', async () => {
  await begun();
  expect(await readRunning(database)).toMatchObject([{ records: 3 }]);
});

it('stopped, it is begun: for gaps, calendar and story', async () => {
  await begun();
  await expireLeases(server);
  const found = await readGaps(database, ['events'], { from: DAY, to: DAY });
  expect(found).toMatchObject([{ state: 'begun' }]);
  expect(describeGaps(found)[0]).toBe(
    `events: ${DAY} begun, not proven yet; the next run goes on with what is stored`,
  );
  const asked = { streams: ['events'], from: DAY, to: DAY, timeZone: 'UTC', settleMs: 0 };
  expect((await readStreamDays(database, asked))[0]?.days).toMatchObject([{ state: 'begun' }]);
  const text = describeStory(await readDayStory(database, 'events', DAY)).join('\n');
  expect(text).toMatch(
    new RegExp(`^events ${DAY}: begun, not proven yet, the views show nothing of it`),
  );
  expect(text).toContain('and not at its end: the next run goes on with it.');
  expect(text).not.toContain('in progress since');
  expect(text).toContain('What is stored is kept; the next run goes on with it. To go on now: ');
});

it('a source that answers one question in different ways is told', async () => {
  const streamId = await begun();
  expect(await readRestless(database, ['events'])).toEqual([]);
  await learn(database, streamId, 'restless', true, 'as the test says');
  expect(await readRestless(database, ['events', 'smart-event'])).toEqual(['events']);
  const story = await readDayStory(database, 'events', DAY);
  expect(describeStory(story).join('\n')).toContain(
    'events: its source gives different answers to the same request',
  );
});
