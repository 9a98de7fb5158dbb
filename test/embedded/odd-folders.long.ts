/** The embedded Postgres in folders that are removed, lie behind links or at the end of long paths, or hold what a crash left. */
import { mkdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { ask } from '../support/ask.ts';
import {
  folderWithData,
  LONGEST_WAIT,
  observe,
  pidsWith,
  postmasterPid,
  releaseElsewhere,
  startElsewhere,
  startHere,
  temporaryFolder,
  untilNothingRuns,
} from './processes.ts';

describe('the embedded Postgres', () => {
  test.each(['the folder', 'the data'])(
    'starts anew when %s was removed while the server lingered',
    async (what) => {
      const directory = join(await temporaryFolder(), '.daywalk');
      const first = await startHere(directory);
      await ask(first.url, 'create table old ()');
      const old = await postmasterPid(directory);
      await first.release();
      // A server that lingers writes while its folder is removed: then `rm` finds one that is not empty.
      await rm(what === 'the folder' ? directory : join(directory, 'data'), {
        recursive: true,
        maxRetries: 10,
      });
      const second = await startHere(directory);
      expect(await ask(second.url, `select to_regclass('old') as old`)).toEqual([{ old: null }]);
      // The old server, which ends now, does not take the new one's socket with it.
      await vi.waitFor(() => expect(pidsWith(directory)).not.toContain(old), {
        ...LONGEST_WAIT,
        interval: 100,
      });
      expect(await ask(second.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    },
  );

  test('works where the path is too long for a socket, through a private folder', async () => {
    const directory = join(await temporaryFolder(), 'long'.repeat(30), '.daywalk');
    const first = await startHere(directory);
    await ask(first.url, 'create table kept as select 42 as answer');
    const sockets = new URL(first.url).searchParams.get('host') ?? '';
    onTestFinished(() => rm(sockets, { recursive: true, force: true }));
    expect((await stat(sockets)).mode & 0o777).toBe(0o700);
    const there = await startElsewhere(directory);
    expect(there.said).toBe(first.url);
    await releaseElsewhere(there);
    await first.release({ untilStopped: true });
    await untilNothingRuns(directory);
    await expect(stat(sockets)).rejects.toMatchObject({ code: 'ENOENT' });
    const again = await startHere(directory);
    expect(await ask(again.url, 'select answer from kept')).toEqual([{ answer: 42 }]);

    // A cleaner of temporary folders takes the socket away: the server is stopped, and the next one gets another.
    await again.release();
    const lost = new URL(again.url).searchParams.get('host') ?? '';
    const { client, ended } = await observe(again.url);
    await rm(lost, { recursive: true });
    await ended;
    await client.end().catch(() => undefined);
    const last = await startHere(directory);
    expect(await ask(last.url, 'select answer from kept')).toEqual([{ answer: 42 }]);
  });

  test('is one through links', async () => {
    const folder = await temporaryFolder();
    await mkdir(join(folder, 'real'));
    await symlink(join(folder, 'real'), join(folder, 'link'));
    const real = await startHere(join(folder, 'real'));
    const link = await startHere(join(folder, 'link'));
    expect(link.url).toBe(real.url);
  });

  test('starts beside a postmaster.pid with the number of another program in it', async () => {
    const directory = await folderWithData();
    await (await startHere(directory)).release({ untilStopped: true });
    const left = `${process.pid}\n${directory}/data\n0\n5432\n.\n\n0 0\nready   \n`;
    for (const name of ['postmaster.pid', '.s.PGSQL.5432.lock'])
      await writeFile(join(directory, 'data', name), left, { mode: 0o600 });
    const { url } = await startHere(directory);
    expect(await ask(url, 'select 1 as one')).toEqual([{ one: 1 }]);
  });
});
