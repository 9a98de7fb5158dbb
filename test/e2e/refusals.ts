/** A worker whose key the API refuses: its scene, and how it goes on with another key. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { daysAgo } from '../support/days.ts';
import { expectExact } from '../support/multiset.ts';
import { freePort } from '../support/ports.ts';
import { API_KEY, temporaryFolder } from '../support/program.ts';
import { type Scene, setScene } from '../support/scene.ts';

const DAYS = daysAgo(2, 1);
const STREAMS = ['events'];
export const REFUSED = /the API refuses the key; it is sent again in an hour/;
/** What verbs say of gaps that a key leaves. */
export const REFUSED_IN_LAST_RUN =
  /^The API refused the key in the last run: first put the right one into the key file, or into DAYWALK_API_KEY and start the program again\.$/m;
/** Requests that may be under way when the first of them is refused. */
export const CONCURRENCY = 4;

/** A scene in which the API takes another key, and a worker with a page. */
export async function setRefused() {
  const scene = await setScene({ key: 'the-other-key-5150' });
  const port = await freePort();
  const file = join(temporaryFolder(), 'key');
  writeFileSync(file, `${API_KEY}\n`);
  const environment = {
    DAYWALK_API_KEY: undefined,
    DAYWALK_API_KEY_FILE: file,
    DAYWALK_STREAMS: STREAMS.join(),
    DAYWALK_SINCE: DAYS.from,
    DAYWALK_SETTLE: '0s',
    // Often, so that a tick comes while the key is refused in most runs of this test.
    DAYWALK_SCHEDULE: '* * * * *',
    DAYWALK_STATUS_LISTEN: `127.0.0.1:${port}`,
  };
  const ask = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`);
    return { status: answer.status, body: await answer.text() };
  };
  return { scene, file, environment, ask, start: () => scene.start(['worker'], environment) };
}

export const notes = ({ database }: Scene) =>
  database.query<{ since: Date; said: string }>('select * from daywalk.refused_keys');

/** Refused with this status it goes on as soon as its file has another key; the note of the old one holds for its hour. */
export async function expectGoingOn(status: 401 | 403): Promise<void> {
  const { scene, file, ask, start } = await setRefused();
  scene.api.set({ faults: [{ kind: 'status', status }] });
  const worker = start();
  await worker.saying(REFUSED);
  const { requests } = scene.api.counts;
  scene.api.set({ faults: [] });
  writeFileSync(file, 'the-other-key-5150\n');
  await worker.saying(/waiting for the next tick/);
  await expectExact(scene, DAYS, STREAMS);
  expect(scene.api.counts.requests).toBeGreaterThan(requests);
  expect(await notes(scene)).toHaveLength(1);
  expect(await ask('/readyz')).toEqual({ status: 200, body: 'ready\n' });
  expect((await ask('/metrics')).body).toMatch(/^daywalk_key_refused_timestamp_seconds 0$/m);
  worker.kill('SIGTERM');
  expect(await worker.ended).toMatchObject({ code: 143 });
  expect(worker.said()).not.toContain('the-other-key-5150');
}
