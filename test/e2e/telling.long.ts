/** More of what people are told than e2e/telling.test.ts: what is no news, and where nothing can be served. */
import { expect, test } from 'vitest';
import { dayAgo } from '../support/days.ts';
import { startHookServer } from '../support/hook-server.ts';
import { setScene } from '../support/scene.ts';

const SETTINGS = {
  get DAYWALK_SINCE() {
    return dayAgo(2);
  },
  DAYWALK_SETTLE: '0s',
  DAYWALK_LATE_AFTER: '0s',
  DAYWALK_STREAMS: 'events',
  DAYWALK_RETRY_TIME: '0s',
};

test('the same state is told once, whichever process finds it; what only looks tells nobody', async () => {
  const hook = await startHookServer();
  const scene = await setScene({ faults: [{ kind: 'status', status: 500 }] });
  const settings = {
    ...SETTINGS,
    DAYWALK_PING_URL: `${hook.url}/ping`,
    DAYWALK_WEBHOOK_URL: `${hook.url}/hook`,
  };
  const told = () =>
    hook.got.filter(({ url }) => url === '/hook').map(({ body }) => JSON.parse(body).event);
  for (let run = 0; run < 2; run++) {
    expect((await scene.run(['run'], settings)).code).toBe(5);
    expect(told()).toEqual(['failing']);
  }
  scene.api.set({ faults: [] });
  await scene.succeed(['run'], settings);
  expect(told()).toEqual(['failing', 'recovered']);
  const { length } = hook.got;
  const asking = { ...settings, DAYWALK_WEBHOOK_DAY_PROVEN: 'yes' };
  const old = ['--from', dayAgo(9), '--to', dayAgo(9)];
  await scene.succeed(['backfill', ...old, '--dry-run'], asking);
  expect(hook.got).toHaveLength(length);
  await scene.succeed(['backfill', ...old], asking);
  await scene.succeed(['run'], asking);
  await scene.succeed(['run'], asking);
  expect(told()).toEqual(['failing', 'recovered', 'day_proven']);
});

test('status tells what follows the days and fails', async () => {
  const scene = await setScene({ eventsPerDay: 20 });
  await scene.database.query(
    `create function public.refuse() returns trigger language plpgsql as
       $$ begin raise exception 'no ledger today'; end $$`,
  );
  await scene.database.query(
    'create trigger refuse before insert on daywalk.ledger for each row execute function public.refuse()',
  );
  expect(await scene.run(['run'], SETTINGS)).toMatchObject({ code: 3 });
  expect((await scene.succeed(['status'], SETTINGS)).stdout).toMatch(
    /the ledger could not be brought up to date: .*no ledger today/,
  );
});

test('a verification that finds no database is no failure of the export: nobody is told', async () => {
  const hook = await startHookServer();
  const scene = await setScene();
  const ended = await scene.run(['verify'], {
    ...SETTINGS,
    DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing',
    DAYWALK_PING_URL: `${hook.url}/ping`,
    DAYWALK_WEBHOOK_URL: `${hook.url}/hook`,
  });
  expect(ended.code).toBe(5);
  expect(hook.got).toEqual([]);
});

test('a port that somebody chose and that is taken ends the worker with exit code 2; the default one is done without', async () => {
  const hook = await startHookServer();
  const scene = await setScene();
  const taken = hook.url.replace('http://', '');
  const ended = await scene.run(['worker'], { ...SETTINGS, DAYWALK_STATUS_LISTEN: taken });
  expect(ended.code).toBe(2);
  expect(ended.stderr).toMatch(
    /cannot be served at 127\.0\.0\.1:\d+: another program uses this port.*\n.*DAYWALK_STATUS_LISTEN/,
  );
});
