/** A changed record is shown once where records are identified, and twice, with a word about it, where they are not. */
import { expect, test } from 'vitest';
import { backfillHere } from '../support/backfill-here.ts';
import { type Scene, setScene } from '../support/scene.ts';

const RANGE = { from: '2026-03-01', to: '2026-03-01' };
const AGAIN = [
  ...['backfill', '--from', RANGE.from, '--to', RANGE.to],
  ...['--stream', 'events', '--only', 'all'],
];
const TIME = '2026-03-01T10:00:00.000Z';
const versionOf = (status: string) => ({
  time: TIME,
  text: `{"timestamp":"2026-03-01T10:00:00.000+0000","id":"e-1","status":"${status}"}`,
});

/** Exported, and changed at the source since. */
async function changed(environment: Record<string, string>): Promise<Scene> {
  const scene = await setScene({ eventsPerDay: 20 });
  scene.api.insert([versionOf('new')] as never);
  await backfillHere(scene, RANGE, { environment: { ...environment, DAYWALK_STREAMS: 'events' } });
  const between = { from: '2026-03-01 10:00:00', to: '2026-03-01 10:00:00' };
  scene.api.remove(({ text }) => text.includes('"e-1"'), between);
  scene.api.insert([versionOf('closed')] as never);
  return scene;
}

const shown = ({ database }: Scene, view: string) =>
  database.query(
    `select record ->> 'status' as status from daywalk.${view} where record ->> 'id' = 'e-1' order by status`,
  );

test('with id_path the newest version is shown, and the one before is in record_versions', async () => {
  const environment = { DAYWALK_ID_PATH: 'id' };
  const scene = await changed(environment);
  await scene.succeedHere(AGAIN, environment);
  expect(await shown(scene, 'events')).toEqual([{ status: 'closed' }]);
  expect(await shown(scene, 'record_versions')).toEqual([{ status: 'new' }]);
});

test('without one both are shown; set later, the next walk mends it', async () => {
  const scene = await changed({});
  await backfillHere(scene, RANGE, { only: 'all', environment: { DAYWALK_STREAMS: 'events' } });
  expect(await shown(scene, 'events')).toEqual([{ status: 'closed' }, { status: 'new' }]);
  await scene.succeedHere(AGAIN, { DAYWALK_ID_PATH: 'id' });
  expect(await shown(scene, 'events')).toEqual([{ status: 'closed' }]);
});
