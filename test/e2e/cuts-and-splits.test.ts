/** What lies between two days, and what lies behind a cap on results: most of it found by the real program. */
import { expect, test } from 'vitest';
import { backfillHere } from '../support/backfill-here.ts';
import { eachDay, expectExact, sentTexts } from '../support/multiset.ts';
import { atNight } from '../support/night.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { expectSplitAndWhole } from './capped.ts';

const DAYS = { from: '2026-03-01', to: '2026-03-02' };
const BACKFILL = ['backfill', '--from', DAYS.from, '--to', DAYS.to, '--stream', 'events'];

/** Events around every midnight: in the last second, in its last half, and in the first second of the next day. */
const AROUND = eachDay({ from: '2026-02-28', to: '2026-03-03' }).flatMap((day) =>
  [
    '00:00:00.000',
    '00:00:00.500',
    '12:00:00.000',
    '23:59:59.000',
    '23:59:59.500',
    '23:59:59.999',
  ].map((time) => JSON.stringify({ timestamp: `${day}T${time}Z`, at: `${day} ${time}` })),
);

/** When the exported events of these days happened, each under its day; what the midnight before them brought is with the first. */
async function exported({ database }: Scene): Promise<string[]> {
  const rows = await database.query<{ at: string }>(
    `select day || ': ' || (record ->> 'at') as at from daywalk.events
      where day between $1::date and $2::date and record ->> 'at' >= $1::date::text order by record ->> 'at'`,
    [DAYS.from, DAYS.to],
  );
  return rows.map(({ at }) => at);
}

const within = AROUND.map((text) => JSON.parse(text).at as string)
  .filter((at) => at.slice(0, 10) >= DAYS.from && at.slice(0, 10) <= DAYS.to)
  .map((at) => `${at.slice(0, 10)}: ${at}`);

test.each(['exact', 'seconds'] as const)(
  'the event at 23:59:59.5 is there once and under its day, where the source compares by %s',
  async (subSecond) => {
    const scene = await setScene({ records: AROUND, subSecond });
    await backfillHere(scene, DAYS, { environment: { DAYWALK_STREAMS: 'events' } });
    expect(await exported(scene)).toEqual(within);
    expect(
      await scene.database.query(`select from daywalk.windows where state <> 'complete'`),
    ).toEqual([]);
  },
);

atNight('days behind a cap of 120, which answers with an empty page, are split and whole', () =>
  expectSplitAndWhole('empty'),
);

test('under repeatable read, where parts that are proven at once would not see each other, nothing is shown and it is said', async () => {
  const scene = await setScene({ offsetCap: { limit: 120, answer: 400 } });
  await scene.database.query(
    `alter database ${scene.database.name} set default_transaction_isolation to 'repeatable read'`,
  );
  const one = ['backfill', '--from', DAYS.from, '--to', DAYS.from, '--stream', 'events'];
  const refused = await scene.here(one);
  expect(refused).toMatchObject({ code: 2 });
  expect(refused.stderr).toMatch(/READ COMMITTED[\s\S]*Reset default_transaction_isolation/);
  expect(await scene.database.query('select from daywalk.events limit 1')).toEqual([]);
  await scene.database.query(
    `alter database ${scene.database.name} reset default_transaction_isolation`,
  );
  // A pooler keeps sessions that began before.
  await scene.database.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );
  await scene.succeedHere(one);
  await expectExact(scene, { from: DAYS.from, to: DAYS.from }, ['events']);
});

test('a body that jsonb refuses is exported as a marked copy, and daywalk.quarantine lists what and where', async () => {
  const at = (second: number, more: string) =>
    `{"timestamp":"2026-03-02T08:00:0${second}Z",${more}}`;
  const plain = [at(1, '"n":1.10'), at(3, '"n":9007199254740993')];
  const refused = at(2, '"user":"nul\\u0000here"');
  const scene = await setScene({ records: [...plain, refused] });
  await scene.succeed(BACKFILL);
  const found = await scene.database.query<{ text: string; user: string | null }>(
    `select record::text as text, record ->> 'user' as user from daywalk.events order by record ->> 'timestamp'`,
  );
  expect(found).toHaveLength(3);
  expect([found[0]?.text, found[2]?.text]).toEqual(await sentTexts(scene.database, plain));
  expect(found[1]?.user).toMatch(/^nul.+here$/);
  const listed = await scene.database.query<{ bytes: Buffer }>(
    `select stream, day::text as day, what, path, bytes from daywalk.quarantine where shown`,
  );
  expect(listed).toMatchObject([{ stream: 'events', day: '2026-03-02', what: 'nul' }]);
  expect(listed[0]?.bytes.toString()).toContain(refused);
});
