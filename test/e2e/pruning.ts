/** What the tests of `daywalk prune` begin with: five exported days in which two months meet, an age that takes some of them. */
import { expect } from 'vitest';
import { expectExact } from '../support/multiset.ts';
import { type Scene, setExported } from '../support/scene.ts';
import { type Moment, startStepProxy, type Verdict } from '../support/step-proxy.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** As `settle` is by default. */
const SETTLE_MS = HOUR_MS;
export const EVENTS = { DAYWALK_STREAMS: 'events' };
export const RANGE = { from: '2026-01-30', to: '2026-02-03' };
export const DAYS = ['--from', RANGE.from, '--to', RANGE.to];

/** The age that takes all days up to this one and no later one; half a day off the hour at which it would be another. */
export function ageOf(day: string): string {
  return `${Math.floor((Date.now() - SETTLE_MS - Date.parse(day) - 1.5 * DAY_MS) / HOUR_MS)}h`;
}

export const upTo = (day: string, ...more: string[]) => [
  'prune',
  '--older-than',
  ageOf(day),
  ...more,
];

/** The days with pages, and how many. */
export async function pagesByDay({ database }: Scene): Promise<Record<string, number>> {
  const rows = await database.query<{ day: string; pages: number }>(
    `select day::text as day, count(*)::int as pages from daywalk.pages group by day order by day`,
  );
  return Object.fromEntries(rows.map(({ day, pages }) => [day, pages]));
}

export const prunings = ({ database }: Scene) =>
  database.query(
    `select day::text as day, what, pruned_by = current_user as by_me, pages > 0 and records > 0 and bytes > 0 as counted,
            removed_at is not null as removed
       from daywalk.prunings order by day`,
  );

/** The days, exported. */
export const exported = (): Promise<Scene> => setExported(RANGE, EVENTS, { eventsPerDay: 90 });

/** A record comes late, so that the day looks different from what it was. */
export async function showMore({ api, succeed }: Scene, day: string): Promise<void> {
  api.insert([`{"timestamp": "${day}T12:00:00Z", "late": true}`]);
  await succeed(['backfill', '--from', day, '--to', day, '--only', 'all'], EVENTS);
}

/** The statement at which a pruning is killed, which time it comes, and whether Postgres has it. */
export interface Kill {
  readonly at: RegExp;
  readonly count: number;
  readonly moment: Moment;
}

/** Kills a pruning at each statement in turn, lets the last one end, and expects that days are whole or gone. */
export async function expectWholeAfter(kills: readonly Kill[]): Promise<Scene> {
  const scene = await exported();
  // A stream beside it keeps January in use, so that rows are deleted there.
  await scene.succeedHere(['backfill', '--from', '2026-01-31', '--to', '2026-01-31'], {
    DAYWALK_STREAMS: 'smart-event',
  });
  const other = await scene.database.query(
    `select k.walk_id from daywalk.walks k join daywalk.windows w using (window_id) join daywalk.streams s using (stream_id)
      where s.name = 'smart-event' and k.pages > 0 order by 1`,
  );
  for (const kill of kills) await killed(scene, kill);
  await scene.succeedHere(upTo('2026-02-02', '--yes'), EVENTS);
  expect((await prunings(scene)).map(({ day, removed }) => [day, removed])).toEqual(
    ['2026-01-30', '2026-01-31', '2026-02-01', '2026-02-02'].map((day) => [day, true]),
  );
  await expectExact(scene, { from: '2026-02-03', to: '2026-02-03' }, ['events']);
  await expectExact(scene, { from: '2026-01-31', to: '2026-01-31' }, ['smart-event']);
  const left = await scene.database.query(
    `select distinct walk_id from daywalk.pages where day < '2026-02-01' order by 1`,
  );
  expect(left).toEqual(other);
  return scene;
}

async function killed(scene: Scene, { at, count, moment }: Kill): Promise<void> {
  let seen = 0;
  let kill = () => {};
  const gate = (statement: string, now: Moment): Verdict => {
    if (now !== moment || !at.test(statement)) return 'pass';
    seen += 1;
    if (seen !== count) return 'pass';
    kill();
    return 'cut';
  };
  const proxy = await startStepProxy(scene.database.url, gate);
  const program = scene.start(upTo('2026-02-02', '--yes'), {
    ...EVENTS,
    DATABASE_URL: proxy.url,
  });
  kill = () => program.kill('SIGKILL');
  const { signal } = await program.ended;
  await proxy.close();
  expect([signal, String(at), moment]).toEqual(['SIGKILL', String(at), moment]);
  const halves = await scene.database.query(
    `select c.day from daywalk.coverage c
      where c.stream = 'events' and c.state = 'complete'
        and c.records <> (select count(*) from daywalk.events e where e.stream = c.stream and e.day = c.day)
      union all
     select e.day from daywalk.events e join daywalk.coverage c on c.stream = e.stream and c.day = e.day
      where c.state = 'pruned'`,
  );
  expect(halves).toEqual([]);
  expect(await scene.database.query('select from daywalk.ledger_check where not ok')).toEqual([]);
}
