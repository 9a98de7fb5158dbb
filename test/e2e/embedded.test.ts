/** Without DATABASE_URL the program brings its own Postgres: started, shared, kept and stopped without anybody's help. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startSimulator } from '../../simulator/simulator.ts';
import { until } from '../support/condition.ts';
import { dayAgo } from '../support/days.ts';
import { processesOf } from '../support/processes.ts';
import { API_KEY, runProgram, startProgram, temporaryFolder } from '../support/program.ts';

test.runIf(process.platform === 'linux')(
  'run, run again, two at once, and nothing is left running (I10)',
  async () => {
    const api = await startSimulator({ key: API_KEY, eventsPerDay: 90 });
    const folder = temporaryFolder();
    const environment = {
      DAYWALK_API_URL: api.url,
      DAYWALK_API_KEY: API_KEY,
      DAYWALK_SINCE: dayAgo(3),
      DAYWALK_SETTLE: '0s',
    };
    const options = { folder, environment };
    try {
      const first = await runProgram(['run'], options);
      expect(first, first.stderr).toMatchObject({ code: 0 });
      expect(first.stdout).toMatch(/^\d+ windows complete/);
      const days = JSON.parse((await runProgram(['status', '--json'], options)).stdout).streams;
      expect(days).toMatchObject([{ complete: 3 }, { complete: 3 }]);
      const password = (await readFile(join(folder, '.daywalk/password'), 'utf8')).trim();
      expect(password.length).toBeGreaterThan(20);
      expect(first.stdout + first.stderr).not.toContain(password);

      const asked = api.counts.requests;
      const second = await runProgram(['run'], { ...options, secrets: [password] });
      expect(second).toMatchObject({ code: 0, stdout: 'Nothing was due.\n' });
      expect(api.counts.requests).toBe(asked);

      // Two at once, while a third only looks; the key and the password are in nobody's arguments.
      api.set({ latency: [20, 40] });
      const more = {
        ...options,
        secrets: [password],
        environment: { ...environment, DAYWALK_PAGE_LENGTH: '10' },
      };
      const range = (from: number, to: number) => [
        'backfill',
        '--from',
        dayAgo(from),
        '--to',
        dayAgo(to),
      ];
      const both = [startProgram(range(9, 7), more), startProgram(range(6, 4), more)];
      await api.received(asked + 3);
      for (const line of await processesOf(folder))
        for (const secret of [API_KEY, password]) expect(line).not.toContain(secret);
      for (const { ended } of both) expect(await ended).toMatchObject({ code: 0 });
      const shown = await runProgram(['status', '--json'], more);
      expect(JSON.parse(shown.stdout).streams).toMatchObject([{ complete: 9 }, { complete: 9 }]);
      await until('the end of its Postgres', async () => (await processesOf(folder)).length === 0);
    } finally {
      await api.close();
    }
  },
);
