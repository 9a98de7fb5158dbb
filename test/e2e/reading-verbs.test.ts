/** The verbs that look: status, gaps, config, doctor, migrate, and the speed of --help. */
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { until } from '../support/condition.ts';
import { createEmptyDatabase } from '../support/database.ts';
import { dayAgo } from '../support/days.ts';
import { violations } from '../support/json-schemas.ts';
import { API_KEY, runProgram, temporaryFolder } from '../support/program.ts';
import { setScene } from '../support/scene.ts';

const SINCE = {
  get DAYWALK_SINCE() {
    return dayAgo(4);
  },
  DAYWALK_SETTLE: '0s',
};

describe('status and gaps', () => {
  test('an empty database says what to do first', async () => {
    const scene = await setScene();
    const shown = await scene.succeed(['status']);
    expect(shown.stdout).toMatch(/Nothing is planned yet.*daywalk run.*daywalk doctor/);
    const json = JSON.parse((await scene.succeed(['status', '--json'])).stdout);
    expect(json).toMatchObject({ running: [], lastRun: null, gaps: [] });
    expect(violations('status', json)).toEqual([]);
  });

  test('an empty database has no coverage, so gaps does not say that all is complete', async () => {
    const scene = await setScene();
    const shown = await scene.run(['gaps'], SINCE);
    expect(shown.stdout).not.toContain('every closed day is complete');
    expect(shown.code).toBe(3);
  });

  test('gaps lists what is missing with the command that fills it; run, it is filled', async () => {
    const scene = await setScene({
      faults: [
        {
          kind: 'html',
          when: ({ resource, query }) =>
            resource === 'events' && query.toDate === `${dayAgo(3)} 23:59:59`,
        },
      ],
    });
    await scene.succeed(['backfill', '--from', dayAgo(4), '--to', dayAgo(4)], SINCE);
    const failed = await scene.run(
      ['backfill', '--from', dayAgo(3), '--to', dayAgo(3), '--stream', 'events'],
      SINCE,
    );
    expect(failed.code).toBe(3);
    scene.api.set({ faults: [] });
    // Neither of a day that failed nor of one that nobody walked was anything compared.
    for (const day of [dayAgo(3), dayAgo(9)]) {
      const verified = await scene.run(
        ['verify', '--from', day, '--to', day, '--stream', 'events'],
        SINCE,
      );
      expect(verified).toMatchObject({ code: 3 });
      expect(verified.stdout).toMatch(
        day === dayAgo(3)
          ? /^Nothing to compare: no window is complete there\./
          : /^Nothing to compare: those days are before the first day of the stream\.$/m,
      );
    }
    await scene.succeed(['verify', '--from', dayAgo(4), '--to', dayAgo(3)], SINCE);

    // What no day is stored of: it is too new, or before the first day.
    const folder = temporaryFolder();
    const read = (...args: string[]) => scene.run([...args, '--stream', 'events'], SINCE);
    expect((await read('export', '--out', folder, '--from', 'today')).stdout).toMatch(
      /^Nothing to export: no day is closed there, or /,
    );
    expect((await read('search', 'x', '--from', 'today')).stdout).toMatch(
      /^events: no day to search: none is closed there, or /,
    );
    const old = ['--from', dayAgo(9), '--to', dayAgo(8)];
    const command = `daywalk backfill ${old.join(' ')} --stream events`;
    expect((await read('search', 'x', ...old)).stdout).toContain(`\`${command}\``);
    expect((await read('export', '--out', folder, ...old)).stdout).toContain(
      `missing: before the first day of the stream; ${command}\n`,
    );
    expect(
      (await read('export', '--out', folder, '--from', dayAgo(4), '--to', 'today')).stdout,
    ).toMatch(/missing: not closed or planned yet$/m);
    const { stderr } = await read('verify', '--deep', '--from', 'today', '--to', 'today');
    expect(stderr).toMatch(/^daywalk: flag --from: .* is not over yet; the newest closed day is /);

    const status = await scene.succeed(['status'], SINCE);
    expect(status.stdout).toMatch(/events: 1 of 4 days complete/);
    expect(status.stdout).toMatch(/failed 1/);
    expect(status.stdout).toMatch(
      /^6 of 8 closed days are not complete: 1 failed; 5 not walked yet\.$/m,
    );
    expect(status.stdout).toMatch(/^last run: backfill, began .* UTC, left gaps after /m);
    expect(status.stdout).toMatch(/^next run: .*:15:00 UTC, where a worker runs/m);
    const told = JSON.parse((await scene.succeed(['status', '--json'], SINCE)).stdout);
    expect(violations('status', told)).toEqual([]);
    expect(told.gaps).toMatchObject([
      {
        stream: 'events',
        from: dayAgo(3),
        state: 'failed',
        command: expect.stringContaining('daywalk backfill'),
      },
      { stream: 'smart-event', from: dayAgo(3), to: dayAgo(1), state: 'missing' },
      { stream: 'events', from: dayAgo(2), to: dayAgo(1), state: 'missing' },
    ]);
    const listed = await scene.run(['gaps'], SINCE);
    expect(listed).toMatchObject({ code: 3 });
    expect(listed.stdout).toMatch(
      new RegExp(`^events: ${dayAgo(3)} failed: .*\\n  daywalk backfill`, 'm'),
    );
    expect(listed.stdout).toMatch(
      new RegExp(`^events: ${dayAgo(2)} to ${dayAgo(1)} not walked yet$`, 'm'),
    );
    expect(listed.stdout).toMatch(
      new RegExp(`^smart-event: ${dayAgo(3)} to ${dayAgo(1)} not walked yet$`, 'm'),
    );
    const json = await scene.run(['gaps', '--json'], SINCE);
    expect(json.code).toBe(3);
    expect(JSON.parse(json.stdout)).toHaveLength(6);

    const commands = [...listed.stdout.matchAll(/^ {2}daywalk (.*)$/gm)].map(([, command = '']) =>
      command.split(' '),
    );
    expect(commands).toHaveLength(3);
    for (const command of commands) await scene.succeed(command, SINCE);
    const after = await scene.succeed(['gaps'], SINCE);
    expect(after.stdout).toBe('No gaps: every closed day is complete.\n');
    const whole = JSON.parse((await scene.succeed(['status', '--json'], SINCE)).stdout);
    expect(violations('status', whole)).toEqual([]);
    expect(whole.streams).toMatchObject([
      { stream: 'events', closed: 4, complete: 4 },
      { stream: 'smart-event', closed: 4, complete: 4 },
    ]);
    expect(whole.lastRun).toMatchObject({ trigger: 'backfill', outcome: 'done' });
  });

  test('a day of which only a midnight is to be checked is walked, and says so', async () => {
    const scene = await setScene();
    await scene.succeed(['backfill', '--from', dayAgo(2), '--to', dayAgo(2)], SINCE);
    await scene.database.query(
      `update daywalk.windows set state = 'pending', due_at = clock_timestamp()
        where kind = 'cut' and day = $1::date and stream_id = (select stream_id from daywalk.streams where name = 'events')`,
      [dayAgo(2)],
    );
    const words = 'walked, midnight not checked yet';
    const status = await scene.succeed(['status'], SINCE);
    expect(status.stdout).toContain(`▒ ${words} 1`);
    const { stdout } = await scene.run(['gaps'], SINCE);
    expect(stdout).toMatch(new RegExp(`^events: ${dayAgo(2)} ${words}$`, 'm'));
    expect((await scene.run(['why', dayAgo(2)], SINCE)).stdout).toContain(
      `events ${dayAgo(2)}: ${words}`,
    );
    const document = JSON.parse((await scene.succeed(['status', '--json'], SINCE)).stdout);
    expect(violations('status', document)).toEqual([]);
    expect(document.gaps).toContainEqual(expect.objectContaining({ state: 'walked' }));
    await scene.succeed(['run'], SINCE);
    expect((await scene.succeed(['gaps'], SINCE)).stdout).toMatch(/^No gaps/);
  });

  test('status shows what runs now, and who runs it', async () => {
    const scene = await setScene({
      faults: [
        {
          // Every day of events stands still behind its first page.
          kind: 'stall',
          when: ({ resource, query }) => resource === 'events' && query.start !== '0',
        },
      ],
    });
    const program = scene.start(['run'], SINCE);
    await until('a page of events', async () => {
      const walks = await scene.database.query(
        `select from daywalk.walks join daywalk.windows using (window_id) join daywalk.streams using (stream_id)
          where resource = 'events' and kind = 'day' and pages > 0`,
      );
      return walks.length > 0;
    });
    const shown = await scene.succeed(['status'], SINCE);
    expect(shown.stdout).toMatch(
      new RegExp(`^running: events .* by \\S+:${program.pid}:\\w+: \\d+ of \\d+ records$`, 'm'),
    );
    const json = JSON.parse((await scene.succeed(['status', '--json'], SINCE)).stdout);
    expect(json.running).not.toEqual([]);
    expect(violations('status', json)).toEqual([]);
    program.kill('SIGTERM');
    await program.ended;
  });

  test('a since in the future is told, and is not all well', async () => {
    const scene = await setScene();
    const environment = { ...SINCE, DAYWALK_SINCE: '2999-01-01' };
    const words =
      /^events: begins on 2999-01-01 \(since\), in the future; until then no new day is planned$/m;
    const ran = await scene.run(['run', '--quiet'], environment);
    expect(ran.stderr).toMatch(/begins on 2999-01-01 \(since\), in the future/);
    expect((await scene.run(['run'], environment)).stdout).toMatch(words);
    for (const verb of ['status', 'gaps']) {
      const { stdout } = await scene.run([verb], environment);
      expect(stdout).toMatch(words);
      expect(stdout).not.toMatch(/every closed day is complete|No gaps/);
    }
  });

  test('shows as many months as are asked for', async () => {
    const scene = await setScene();
    const far = { ...SINCE, DAYWALK_SINCE: dayAgo(70) };
    await scene.succeed(['backfill', '--from', dayAgo(70), '--to', dayAgo(70)], far);
    const rows = ({ stdout }: { stdout: string }) => stdout.match(/^\d{4}-\d\d/gm) ?? [];
    expect(rows(await scene.succeed(['status'], far)).length).toBeGreaterThan(2);
    const one = await scene.succeed(['status', '--months', '1'], far);
    expect(rows(one)).toHaveLength(1);
    expect(one.stdout).toMatch(new RegExp(`^events: .*, from ${dayAgo(70)} on \\(--months`, 'm'));
    const wrong = await scene.run(['status', '--months', 'all'], far);
    expect(wrong).toMatchObject({ code: 2 });
    expect(wrong.stderr).toMatch(/--months: "all"[\s\S]*from 1 to/);
  });

  test('colours where the terminal has them, or where they are asked for', async () => {
    const scene = await setScene();
    await scene.succeed(['run'], SINCE);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape of ANSI sequences
    const coloured = /\u001b\[32m/;
    expect((await scene.succeed(['status'], SINCE)).stdout).not.toMatch(coloured);
    const forced = { ...SINCE, FORCE_COLOR: '1', NO_COLOR: '1' };
    expect((await scene.succeed(['status'], forced)).stdout).toMatch(coloured);
  });

  test('a terminal without UTF-8 gets a calendar in ASCII', async () => {
    const scene = await setScene();
    await scene.succeed(['run'], SINCE);
    const shown = await scene.succeed(['status'], { ...SINCE, LANG: 'C' });
    expect(shown.stdout).toMatch(/^\d{4}-\d\d +[#o]+/m);
    expect(shown.stdout).not.toMatch(/[^\n -~]/);
  });
});

describe('config', () => {
  test('tells each setting, its value and its place: flags over environment over file', async () => {
    const folder = temporaryFolder();
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'daywalk.yaml'), 'page_length: 10\nconcurrency: 3\nsettle: 2h\n');
    const shown = await runProgram(['config', '--page-length', '30'], {
      folder,
      environment: {
        DAYWALK_PAGE_LENGTH: '20',
        DAYWALK_CONCURRENCY: '7',
        DAYWALK_API_KEY: API_KEY,
      },
    });
    expect(shown).toMatchObject({ code: 0 });
    expect(shown.stdout).toMatch(/^page_length +30 +flag --page-length$/m);
    expect(shown.stdout).toMatch(/^concurrency +7 +environment DAYWALK_CONCURRENCY$/m);
    expect(shown.stdout).toMatch(/^settle +2h +.*daywalk\.yaml/m);
    expect(shown.stdout).toMatch(/^timezone +UTC +default$/m);
  });
});

describe('doctor', () => {
  test('green', async () => {
    const scene = await setScene();
    const shown = await scene.succeed(['doctor']);
    expect(shown.stdout).toMatch(/^✓ database +PostgreSQL \d+/m);
    expect(shown.stdout).toMatch(/^✓ time zone +UTC: the newest closed day is \d{4}-/m);
    expect(shown.stdout).toMatch(/^✓ stream events +API reached, key accepted/m);
    expect(shown.stdout).not.toContain('✗');
    const json = JSON.parse((await scene.succeed(['doctor', '--json'])).stdout) as {
      state: string;
    }[];
    // The database of the tests runs without fsync, and the doctor may say so.
    expect(json.filter(({ state }) => state !== 'ok' && state !== 'warning')).toEqual([]);
  });

  test.each([
    [
      'a wrong key',
      { DAYWALK_API_KEY: 'other' },
      4,
      /✗ stream events .*401[\s\S]*→ .*DAYWALK_API_KEY/,
    ],
    ['a wrong path', { path: '/x' }, 2, /✗ stream events .*404[\s\S]*→ .*api\.url/],
    [
      'a wrong database password',
      { password: 'wrong-one' },
      2,
      /✗ database .*authentication failed[\s\S]*→ .*DATABASE_URL/,
    ],
  ] as const)('red: %s, with what to do', async (_, change, code, words) => {
    const scene = await setScene();
    const database = new URL(scene.database.url);
    if ('password' in change) database.password = change.password;
    const shown = await scene.run(['doctor'], {
      ...('DAYWALK_API_KEY' in change ? change : {}),
      DATABASE_URL: database.href,
      DAYWALK_API_URL: `${scene.api.url}${'path' in change ? change.path : ''}`,
    });
    if (shown.code === 0 && 'password' in change) return; // This server asks for no password.
    expect(shown.stdout).toMatch(words);
    expect(shown.code).toBe(code);
    expect(shown.stderr).not.toMatch(/^\s+at /m);
  });
});

test('migrate --dry-run lists, migrate applies, a second one finds nothing to do', async () => {
  const database = await createEmptyDatabase();
  const environment = { DATABASE_URL: database.url };
  const listed = await runProgram(['migrate', '--dry-run'], { environment });
  expect(listed).toMatchObject({ code: 0 });
  expect(listed.stdout).toMatch(/^would apply 0001_tables$/m);
  expect(await database.query(`select from pg_namespace where nspname = 'daywalk'`)).toEqual([]);
  const both = await Promise.all([
    runProgram(['migrate'], { environment }),
    runProgram(['migrate'], { environment }),
  ]);
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  const said = both.map(({ stdout }) => stdout).join('');
  expect(said.match(/^applied /gm)).toHaveLength(listed.stdout.trimEnd().split('\n').length);
  expect(await runProgram(['migrate'], { environment })).toMatchObject({
    code: 0,
    stdout: 'The schema is up to date.\n',
  });
});

test('--help is there in a blink: it loads little code, and of the packages only the one that reads the command line', async () => {
  const folder = temporaryFolder();
  // V8 tells every script that it has run; how long that takes on a busy machine says nothing about the program.
  const shown = await runProgram(['--help'], { environment: { NODE_V8_COVERAGE: folder } });
  expect(shown).toMatchObject({ code: 0, stderr: '' });
  expect(shown.stdout).toMatch(/backfill[\s\S]*status[\s\S]*gaps[\s\S]*doctor[\s\S]*Exit codes/);
  const [file = ''] = await readdir(folder);
  const { result }: { result: { url: string }[] } = JSON.parse(
    await readFile(join(folder, file), 'utf8'),
  );
  const loaded = result.map(({ url }) => url).filter((url) => url.startsWith('file:'));
  const packages = loaded.flatMap(
    (url) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? [],
  );
  expect([...new Set(packages)]).toEqual(['commander']);
  const sizes = await Promise.all(loaded.map(async (url) => (await stat(new URL(url))).size));
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  console.log(`daywalk --help: ${loaded.length} files, ${Math.round(bytes / 1000)} kB of code`);
  expect(bytes).toBeGreaterThan(50_000);
  expect(bytes).toBeLessThan(250_000);
});
