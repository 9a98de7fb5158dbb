/** What `commit` has no time for: a body that is larger than `jsonb` can be. */
import { expect, it } from 'vitest';
import { TooLargeError } from '../../src/errors.ts';
import { storePage } from '../../src/store/pages.ts';
import type { TestDatabase } from '../support/database.ts';
import {
  beginWalk,
  CONTRACT,
  freshStore,
  openDatabase,
  pageOfBody,
  planDays,
  storing,
} from '../support/store.ts';

let server: TestDatabase;
freshStore((fresh) => {
  ({ server } = fresh);
});

it('a body that is larger than jsonb can be is told so, and stores nothing', async () => {
  // Postgres reads all of it before it refuses it, on a busy machine for longer than other statements may take.
  const database = openDatabase(server.url, { statementTimeoutMs: 250_000 });
  const { window, checkpoint } = await beginWalk(database, await planDays(database));
  const rows = async () => [
    await server.query('select to_jsonb(w) from daywalk.windows w order by window_id'),
    await server.query('select * from daywalk.walks'),
    await server.query('select * from daywalk.pages'),
  ];
  const before = await rows();
  const elements = 16_777_217;
  const page = pageOfBody(0, `{"data":[{"v":[${'1,'.repeat(elements - 1)}1]}]}`);
  const error = await storePage(storing(database, window), checkpoint, page, CONTRACT).catch(
    (caught: unknown) => caught,
  );
  expect(error).toBeInstanceOf(TooLargeError);
  expect(error).toMatchObject({ hint: expect.stringContaining('page_length') });
  expect(await rows()).toEqual(before);
}, 300_000);
