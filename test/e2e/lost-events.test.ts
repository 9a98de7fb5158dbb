/** A source that loses its events: they stay, everybody is told, and nothing takes the only copy away. */
import { expect, test } from 'vitest';
import type { RecordInput } from '../../simulator/simulator.ts';
import { dayAgo } from '../support/days.ts';
import { startHookServer } from '../support/hook-server.ts';
import { letTimePass } from '../support/pass-time.ts';
import { type Scene, setScene } from '../support/scene.ts';

const daysOf = () => [dayAgo(5), dayAgo(4), dayAgo(3)] as const;
const backfill = (...more: string[]) => {
  const [from, , to] = daysOf();
  return ['backfill', '--from', from, '--to', to, ...more];
};
const ALL = ['--only', 'all'];

const events = (day: string, count: number): RecordInput[] =>
  Array.from({ length: count }, (_, n) => {
    const time = Date.parse(`${day}T00:00:00Z`) + n * 120_000 + (n % 7);
    const text = `{"timestamp":"${new Date(time).toISOString()}","id":"${day}-${n}"}`;
    return { text, time };
  });

/** Three days, of which the second has 700 events; and a webhook. */
async function exported() {
  const hook = await startHookServer();
  const [before, day, after] = daysOf();
  const scene = await setScene({
    records: [...events(before, 60), ...events(day, 700), ...events(after, 60)],
  });
  const settings = {
    DAYWALK_STREAMS: 'events',
    // Nothing else is late.
    DAYWALK_LATE_AFTER: '30d',
    DAYWALK_WEBHOOK_URL: `${hook.url}/hook`,
    DAYWALK_PAGE_LENGTH: '200',
  };
  await scene.succeed(backfill(), settings);
  const told = (): { event: string; problems: { text: string; command: string | null }[] }[] =>
    hook.got.map(({ body }) => JSON.parse(body));
  return { scene, settings, told, day };
}

/** A second walk, an hour or more after the first, confirms what is gone. @returns how the second ended. */
async function walkTwice({ database, run }: Scene, settings: Record<string, string>) {
  await letTimePass((sql, values) => database.query(sql, values), '2 hours');
  await run(backfill(...ALL), settings);
  await letTimePass((sql, values) => database.query(sql, values), '2 hours');
  return run(backfill(...ALL), settings);
}

const shown = async ({ database }: Scene, day: string) =>
  (
    await database.query(
      `select count(*)::int as shown, count(gone_since)::int as gone from daywalk.events where day = $1`,
      [day],
    )
  )[0];

test('700 events that vanish stay shown; exit code, webhook and status tell of it until it is accepted', async () => {
  const { scene, settings, told, day } = await exported();
  scene.api.remove(({ text }) => text.includes(`"${day}-`));
  const ended = await walkTwice(scene, settings);
  expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 3 });
  expect(ended.stdout).toContain(
    `The source lost 700 of 700 records of events ${day}; they are kept.`,
  );
  expect(await shown(scene, day)).toEqual({ shown: 700, gone: 700 });
  expect(told().at(-1)?.problems).toContainEqual({
    text: `events: the source lost 700 of 700 records of ${day}; they are kept here`,
    command: 'daywalk accept',
  });
  const status = await scene.run(['status'], settings);
  expect(status.stdout).toContain(`the source lost 700 of 700 records of ${day}`);

  // The walks that found nothing may go; the one that holds the only copy stays.
  const pruned = await scene.run(['prune', '--superseded', '--yes'], settings);
  expect(pruned, pruned.stdout + pruned.stderr).toMatchObject({ code: 0 });
  expect(await shown(scene, day)).toEqual({ shown: 700, gone: 700 });

  const accept = () => scene.succeed(['accept', '--stream', 'events'], settings);
  expect((await accept()).stdout).toMatch(/^events: accepted\. From the next run on, days that/);
  expect((await accept()).stdout).toMatch(
    /^events: no day failed .*: nothing was to be accepted\./,
  );
  const accepted = await scene.run(backfill(...ALL), settings);
  expect(accepted, accepted.stdout + accepted.stderr).toMatchObject({ code: 0 });
  expect(told().map(({ event }) => event)).toEqual(['failing', 'recovered']);
  expect(await shown(scene, day)).toEqual({ shown: 700, gone: 700 });
});

test('nine of 700 that vanish stay shown; status tells of it, and it is no failure', async () => {
  const { scene, settings, day } = await exported();
  // 100, 110 … 180.
  scene.api.remove(({ text }) => text.includes(`"${day}-1`) && /-1[0-8]0"/.test(text));
  const ended = await walkTwice(scene, settings);
  expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 0 });
  expect(await shown(scene, day)).toEqual({ shown: 700, gone: 9 });
  const status = await scene.run(['status'], settings);
  expect(status.stdout).toMatch(
    /9 records of 1 day are not shown by the source any more, and kept/,
  );
});
