/** Statements that get no answer: the server cancels them, somebody holds the rows, or the line is a black hole (I1, I4). */
import { expect, test } from 'vitest';
import { audit } from '../support/audit.ts';
import { untilMoment } from '../support/condition.ts';
import { layLine } from '../support/line.ts';
import { expectExact } from '../support/multiset.ts';
import { type Scene, setScene } from '../support/scene.ts';

const DAYS = { from: '2026-03-01', to: '2026-03-04' };
const BACKFILL = ['backfill', '--from', DAYS.from, '--to', DAYS.to];
const PATIENT = { DAYWALK_DATABASE_PATIENCE: '60s' };
const SLOW = { latency: 10 };

const pages = async ({ database }: Scene): Promise<number> =>
  (await database.query<{ n: number }>('select count(*)::int as n from daywalk.pages'))[0]?.n ?? 0;

const port = (url: string): number => Number(new URL(url).port || 5432);

test('a line that goes silent in mid-run, and is mended: goes on over new connections (D17)', async () => {
  const scene = await setScene(SLOW);
  const line = await layLine(port(scene.database.url));
  const program = scene.start(BACKFILL, {
    ...PATIENT,
    DATABASE_URL: line.over(scene.database.url),
    DAYWALK_STATEMENT_TIMEOUT: '1s',
    DAYWALK_LEASE: '5s',
  });
  await untilMoment('some pages', async () => (await pages(scene)) >= 8);
  line.freeze();
  await program.saying(/Postgres did not answer within 1000 ms/);
  line.thaw();
  const ended = await program.ended;
  expect(ended, ended.stderr).toMatchObject({ code: 0 });
  await expectExact(scene, DAYS);
  expect(await audit(scene.database)).toEqual([]);
  await line.close();
});

test('a line that is cut again and again: goes on (D03, D04)', async () => {
  const scene = await setScene(SLOW);
  const line = await layLine(port(scene.database.url));
  const program = scene.start(BACKFILL, {
    ...PATIENT,
    DATABASE_URL: line.over(scene.database.url),
  });
  for (let page = 4; page <= 40; page += 4) {
    await untilMoment(
      `page ${page}`,
      async () => !program.running() || (await pages(scene)) >= page,
    );
    line.cut();
  }
  const ended = await program.ended;
  expect(ended, ended.stderr).toMatchObject({ code: 0 });
  await expectExact(scene, DAYS);
  expect(await audit(scene.database)).toEqual([]);
  await line.close();
});

test('the server cancels every statement (57014): waits, and goes on when it lets them live (D12)', async () => {
  const scene = await setScene(SLOW);
  const setTimeout = async (value: string) => {
    await scene.database.query(
      `alter database ${scene.database.name} set statement_timeout = '${value}'`,
    );
    await scene.database.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = $1 and application_name = '' and pid <> pg_backend_pid()`,
      [scene.database.name],
    );
  };
  const program = scene.start(BACKFILL, PATIENT);
  await untilMoment('some pages', async () => (await pages(scene)) >= 8);
  // A lock on the pages makes every statement that writes one last longer than it may.
  const holder = await scene.database.pool.connect();
  await holder.query('begin');
  await holder.query('lock table daywalk.pages in exclusive mode');
  await holder.query(`alter database ${scene.database.name} set statement_timeout = '200ms'`);
  await holder.query('commit');
  await holder.query('begin');
  await holder.query('lock table daywalk.pages in exclusive mode');
  await holder.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`,
  );
  await program.saying(/canceling statement due to statement timeout \(57014\)/);
  await holder.query('rollback');
  holder.release();
  await setTimeout('0');
  const ended = await program.ended;
  expect(ended, ended.stderr).toMatchObject({ code: 0 });
  await expectExact(scene, DAYS);
  expect(await audit(scene.database)).toEqual([]);
});
