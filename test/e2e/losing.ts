/** Three days that were exported from a source, and the walks that confirm what it has lost. */
import type { RecordInput } from '../../simulator/simulator.ts';
import { backfillHere } from '../support/backfill-here.ts';
import { dayAgo } from '../support/days.ts';
import { startHookServer } from '../support/hook-server.ts';
import { letTimePass } from '../support/pass-time.ts';
import { type Scene, setScene } from '../support/scene.ts';

const daysOf = () => [dayAgo(5), dayAgo(4), dayAgo(3)] as const;
const range = () => ({ from: daysOf()[0], to: daysOf()[2] });
export const backfill = (...more: string[]) => {
  const { from, to } = range();
  return ['backfill', '--from', from, '--to', to, ...more];
};
export const ALL = ['--only', 'all'];

const events = (day: string, count: number): RecordInput[] =>
  Array.from({ length: count }, (_, n) => {
    const time = Date.parse(`${day}T00:00:00Z`) + n * 120_000 + (n % 7);
    const text = `{"timestamp":"${new Date(time).toISOString()}","id":"${day}-${n}"}`;
    return { text, time };
  });

/** Three days, of which the second has 700 events; and a webhook. */
export async function exported() {
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
  await backfillHere(scene, range(), { environment: settings });
  const told = (): { event: string; problems: { text: string; command: string | null }[] }[] =>
    hook.got.map(({ body }) => JSON.parse(body));
  return { scene, settings, told, day };
}

/** A second walk, an hour or more after the first, confirms what is gone. @returns how the second ended. */
export async function walkTwice(scene: Scene, settings: Record<string, string>) {
  const { database, run } = scene;
  await letTimePass(database, '2 hours');
  await backfillHere(scene, range(), { only: 'all', environment: settings });
  await letTimePass(database, '2 hours');
  return run(backfill(...ALL), settings);
}

export const shown = async ({ database }: Scene, day: string) =>
  (
    await database.query(
      `select count(*)::int as shown, count(gone_since)::int as gone from daywalk.events where day = $1`,
      [day],
    )
  )[0];
