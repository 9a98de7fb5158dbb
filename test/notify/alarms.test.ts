/** Alarms: each change is told once, by one process, again after a day, and again when nobody heard it. */
import { beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { UnavailableError } from '../../src/errors.ts';
import { silentLogger } from '../../src/log.ts';
import { openNotifier } from '../../src/notify/notifier.ts';
import { claimNotification, noteCondition, noteNotified } from '../../src/notify/rows.ts';
import type { Database } from '../../src/store/database.ts';
import { load } from '../settings/loading.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startHookServer } from '../support/hook-server.ts';
import { publishNext } from '../support/publishing.ts';
import { openDatabase, planDays } from '../support/store.ts';

const STREAMS = ['events', 'smart-event'];
let server: TestDatabase;
let database: Database;
beforeAll(async () => {
  server = await createTestDatabase();
});
beforeEach(async () => {
  await server.query('truncate daywalk.alarms');
  database = openDatabase(server.url);
});

/** One run of a process: notes, tells, and what it told. */
async function run(failing: boolean, heard = true): Promise<string | null> {
  await noteCondition(database, STREAMS, { failing, problem: failing ? 'why' : null });
  const telling = await claimNotification(database, STREAMS);
  if (telling === null) return null;
  await noteNotified(database, STREAMS, telling.kind, heard);
  return telling.kind;
}

it('a healthy export is nothing to tell', async () => {
  expect([await run(false), await run(false)]).toEqual([null, null]);
});

it('failing once, still failing once a day, recovered once', async () => {
  expect([await run(true), await run(true), await run(true)]).toEqual(['failing', null, null]);
  await server.query(`update daywalk.alarms set told_at = told_at - interval '1 day'`);
  expect([await run(true), await run(true)]).toEqual(['still failing', null]);
  expect([await run(false), await run(false)]).toEqual(['recovered', null]);
  expect(await run(true)).toBe('failing');
});

it('what was told, or begun to be, while the clock of the database was days ahead is told once it was set back', async () => {
  const ahead = (column: string) =>
    server.query(`update daywalk.alarms set ${column} = clock_timestamp() + interval '30 days'`);
  await run(true);
  await ahead('told_at');
  expect([await run(true), await run(true)]).toEqual(['still failing', null]);
  await ahead('telling_until');
  expect(await run(false)).toBe('recovered');
});

it('since when it fails is kept while it fails, and told with the recovery', async () => {
  await run(true);
  await server.query(`update daywalk.alarms set failing_since = '2026-03-01 00:00Z'`);
  await run(true);
  await noteCondition(database, STREAMS, { failing: false, problem: null });
  expect(await claimNotification(database, STREAMS)).toEqual({
    kind: 'recovered',
    since: new Date('2026-03-01T00:00:00Z'),
  });
});

it('what nobody heard is told again', async () => {
  expect([await run(true, false), await run(true, false), await run(true)]).toEqual([
    'failing',
    'failing',
    'failing',
  ]);
  expect(await run(true)).toBeNull();
});

it('a failure that nobody heard of, and that is over, is not told', async () => {
  expect([await run(true, false), await run(false)]).toEqual(['failing', null]);
});

it('of two processes one tells; a killed one is not waited for for ever', async () => {
  await noteCondition(database, STREAMS, { failing: true, problem: null });
  const claims = await Promise.all([
    claimNotification(database, STREAMS),
    claimNotification(database, STREAMS),
  ]);
  expect(claims.filter((claim) => claim !== null)).toHaveLength(1);
  expect(await claimNotification(database, STREAMS)).toBeNull();
  await server.query(
    `update daywalk.alarms set telling_until = clock_timestamp() - interval '1 second'`,
  );
  expect(await claimNotification(database, STREAMS)).toMatchObject({ kind: 'failing' });
});

it('other streams are another alarm', async () => {
  await run(true);
  await noteCondition(database, ['severe'], { failing: true, problem: null });
  expect(await claimNotification(database, ['severe'])).toMatchObject({ kind: 'failing' });
});

/** A notifier with a webhook, what it told, and a clock that stands where the test puts it. */
async function openTold() {
  const hook = await startHookServer();
  const settings = load({
    environment: {
      DAYWALK_API_URL: 'http://127.0.0.1:9/',
      DAYWALK_STREAMS: 'events',
      DAYWALK_WEBHOOK_URL: `${hook.url}/hook`,
    },
  });
  const clock = { ...systemClock, now: () => Date.parse('2026-03-01T04:00:00Z') };
  const notifier = openNotifier(settings, clock, silentLogger, (text) => text);
  onTestFinished(() => notifier.close());
  const told = () => hook.got.map(({ body }) => JSON.parse(body));
  const end = (error?: Error) => notifier.begin()({ exitCode: 0, text: '', error });
  return { notifier, told, end };
}

it('an outage of the database that was told without it is told to be over, since when it was', async () => {
  const { notifier, told, end } = await openTold();
  await end(new UnavailableError('database', 'the database is away'));
  await end(new UnavailableError('database', 'the database is away'));
  await notifier.attach(database);
  await end();
  expect(told()).toMatchObject([
    { event: 'failing', failing_since: '2026-03-01T04:00:00.000Z' },
    { event: 'recovered', failing_since: '2026-03-01T04:00:00.000Z' },
  ]);
});

it('a state that cannot be read is no recovery', async () => {
  const { notifier, told, end } = await openTold();
  await notifier.attach(database);
  await end(new Error('it broke'));
  await server.query('alter table daywalk.days rename to away');
  await end();
  expect(told()).toMatchObject([{ event: 'failing' }]);
  await server.query('alter table daywalk.away rename to days');
  await end();
  expect(told()).toMatchObject([{ event: 'failing' }, { event: 'recovered' }]);
});

it('what a source lost is told before the days that failed, of which only the first are', async () => {
  const days = ['2026-02-18', '2026-02-20', '2026-02-22', '2026-02-24', '2026-02-26', '2026-02-28'];
  const streamId = await planDays(database, ['2026-02-16', ...days]);
  const ids = Array.from({ length: 20 }, (_, id) => id);
  await publishNext(database, streamId, [ids]);
  await server.query(`update daywalk.days set gone = 20, lost = 20`);
  await server.query(
    `update daywalk.windows set state = 'failed', last_error = 'it says ' || day where day = any ($1::date[])`,
    [days],
  );
  const { notifier, told, end } = await openTold();
  await notifier.attach(database);
  await end();
  const [{ text, problems } = { text: '', problems: [] }] = told();
  expect(problems.length).toBeGreaterThan(5);
  expect(text).toMatch(/^events: the source does not show 20 of 20 records of 2026-02-16 any more/);
  expect(text).toMatch(/more; `daywalk status` shows them\.$/);
});
