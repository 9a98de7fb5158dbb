/** The verbs that look: status, gaps, config, doctor, migrate, and the speed of --help. */
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { backfillHere } from '../support/backfill-here.ts';
import { until } from '../support/condition.ts';
import { createEmptyDatabase } from '../support/database.ts';
import { dayAgo } from '../support/days.ts';
import { violations } from '../support/json-schemas.ts';
import { expectExact } from '../support/multiset.ts';
import { atNight } from '../support/night.ts';
import { API_KEY, runProgram, temporaryFolder } from '../support/program.ts';
import { setExported, setScene } from '../support/scene.ts';

const SINCE = {
  get DAYWALK_SINCE() {
    return dayAgo(4);
  },
  DAYWALK_SETTLE: '0s',
};

/** As ANSI sequences write it. */
const GREEN = '\u001b[32m';

describe('status and gaps', () => {
  test('an empty database says what to do first; it has no coverage, so gaps does not say that all is complete', async () => {
    const scene = await setScene();
    const shown = await scene.succeed(['status']);
    expect(shown.stdout).toMatch(/Nothing is planned yet.*daywalk run.*daywalk doctor/);
    const gaps = await scene.run(['gaps'], SINCE);
    expect(gaps.stdout).not.toContain('every closed day is complete');
    expect(gaps.code).toBe(3);
  });

  test('gaps lists what is missing with the command that fills it; run, it is filled; a day is walked, and no more, where a midnight is to be checked', async () => {
    const scene = await setScene({
      eventsPerDay: 30,
      faults: [
        {
          kind: 'html',
          when: ({ resource, query }) =>
            resource === 'events' && query.toDate === `${dayAgo(3)} 23:59:59`,
        },
      ],
    });
    const settings = { ...SINCE, DAYWALK_STREAMS: 'events' };
    for (const day of [dayAgo(4), dayAgo(3)])
      await backfillHere(scene, { from: day, to: day }, { environment: settings });
    scene.api.set({ faults: [] });
    const status = await scene.succeedHere(['status'], settings);
    expect(status.stdout).toMatch(/events: 1 of 4 days complete, \d+ records, 1 page, /);
    expect(status.stdout).not.toContain(GREEN);
    expect(status.stdout).toMatch(/failed 1/);
    expect(status.stdout).toMatch(
      /^3 of 4 closed days are not complete: 1 failed; 2 not walked yet\.$/m,
    );
    expect(status.stdout).toMatch(
      /^last run: backfill, began .* UTC, finished with problems after /m,
    );
    expect(status.stdout).toMatch(/^next run: .*:15:00 UTC, if a worker runs then/m);
    const listed = await scene.here(['gaps'], settings);
    expect(listed).toMatchObject({ code: 3 });
    expect(listed.stdout).toMatch(
      new RegExp(
        `^events: ${dayAgo(3)} failed; later runs try it again: .*\\n  daywalk backfill`,
        'm',
      ),
    );
    expect(listed.stdout).toMatch(
      new RegExp(`^events: ${dayAgo(2)} to ${dayAgo(1)} not walked yet$`, 'm'),
    );

    const commands = [...listed.stdout.matchAll(/^ {2}daywalk (.*)$/gm)].map(([, command = '']) =>
      command.split(' '),
    );
    expect(commands).toHaveLength(2);
    for (const command of commands) await scene.succeedHere(command, settings);
    const after = await scene.succeedHere(['gaps'], settings);
    expect(after.stdout).toBe('No gaps: every closed day is complete.\n');
    const whole = JSON.parse((await scene.succeedHere(['status', '--json'], settings)).stdout);
    expect(violations('status', whole)).toEqual([]);
    expect(whole.streams).toMatchObject([{ stream: 'events', closed: 4, complete: 4 }]);
    expect(whole.lastRun).toMatchObject({ trigger: 'backfill', outcome: 'done' });

    // A day of which only a midnight is to be checked is walked, and says so.
    await scene.database.query(
      `update daywalk.windows set state = 'pending', due_at = clock_timestamp()
        where kind = 'cut' and day = $1::date`,
      [dayAgo(1)],
    );
    const words = 'walked, midnight not checked yet';
    expect((await scene.succeedHere(['status'], settings)).stdout).toContain(`▒ ${words} 1`);
    expect((await scene.here(['gaps'], settings)).stdout).toMatch(
      new RegExp(`^events: ${dayAgo(1)} ${words}$`, 'm'),
    );
    await backfillHere(scene, { from: dayAgo(4), to: dayAgo(1) }, { environment: settings });
    await expectExact(scene, { from: dayAgo(4), to: dayAgo(1) }, ['events']);
  });

  atNight('status has colours where they are asked for', async () => {
    const settings = { ...SINCE, DAYWALK_STREAMS: 'events' };
    const days = { from: dayAgo(4), to: dayAgo(1) };
    const scene = await setExported(days, settings, { eventsPerDay: 60 });
    const asked = { ...settings, FORCE_COLOR: '1', NO_COLOR: '1' };
    const coloured = (await scene.succeed(['status'], asked)).stdout;
    expect(coloured).toContain(GREEN);
    expect(stripVTControlCharacters(coloured)).toMatch(/^\d{4}-\d\d +[█░]+/m);
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
    const settings = { ...SINCE, DAYWALK_STREAMS: 'events' };
    const program = scene.start(['run'], settings);
    await until('a page of events', async () => {
      const walks = await scene.database.query(
        `select from daywalk.walks join daywalk.windows using (window_id) join daywalk.streams using (stream_id)
          where resource = 'events' and kind = 'day' and pages > 0`,
      );
      return walks.length > 0;
    });
    const shown = await scene.succeed(['status'], settings);
    expect(shown.stdout).toMatch(
      new RegExp(`^running: events .* by \\S+:${program.pid}:\\w+: \\d+ of \\d+ records$`, 'm'),
    );
    program.kill('SIGTERM');
    await program.ended;
  });

  test('a day that failed, and is not closed any more as it settles for longer, is no gap, and is told until when', async () => {
    const scene = await setScene({
      eventsPerDay: 30,
      faults: [{ kind: 'html', when: ({ query }) => query.toDate === `${dayAgo(1)} 23:59:59` }],
    });
    const days = { from: dayAgo(2), to: dayAgo(1) };
    const since = { DAYWALK_STREAMS: 'events', DAYWALK_SINCE: days.from };
    const settings = { ...since, DAYWALK_SETTLE: '0s' };
    await backfillHere(scene, days, { environment: settings });
    expect((await scene.succeedHere(['status'], settings)).stdout).toMatch(
      /^events: 1 of 2 days complete, /m,
    );
    const longer = { ...since, DAYWALK_SETTLE: '24h' };
    await scene.succeedHere(['run'], longer);
    const { stdout } = await scene.succeedHere(['status'], longer);
    const until = `${dayAgo(-1)} 00:00:00 UTC`;
    expect(stdout).toMatch(
      new RegExp(
        `^events: 1 of 1 days complete, .*, 1 day not closed yet \\(until ${until}\\)$`,
        'm',
      ),
    );
    expect(stdout).toMatch(/^No gaps: every closed day is complete\.$/m);
    const told = JSON.parse((await scene.succeedHere(['status', '--json'], longer)).stdout);
    expect(violations('status', told)).toEqual([]);
  });

  test('a since in the future is told, and is not all well', async () => {
    const scene = await setScene();
    const environment = { ...SINCE, DAYWALK_SINCE: '2999-01-01' };
    const words =
      /^events: begins on 2999-01-01 \(since\), in the future; until then no new day is planned$/m;
    expect((await scene.here(['run'], environment)).stdout).toMatch(words);
    const { stdout } = await scene.here(['gaps'], environment);
    expect(stdout).toMatch(words);
    expect(stdout).not.toMatch(/every closed day is complete|No gaps/);
  });

  test('a stream that has an end is planned to it, and no later day is missing', async () => {
    const scene = await setScene();
    const file = join(temporaryFolder(), 'daywalk.yaml');
    await writeFile(file, `streams: { events: { until: ${dayAgo(3)} } }\n`);
    const environment = { ...SINCE, DAYWALK_CONFIG: file };
    await scene.succeedHere(['run'], environment);
    const days = await scene.database.query('select day::text, state from daywalk.coverage');
    expect(days).toEqual([dayAgo(4), dayAgo(3)].map((day) => ({ day, state: 'complete' })));
    const words = `events: ended on ${dayAgo(3)} (until); no later day is planned\nNo gaps: every closed day is complete.\n`;
    expect((await scene.succeedHere(['gaps'], environment)).stdout).toBe(words);
    expect((await scene.succeedHere(['status'], environment)).stdout).toContain(words);
    const range = ['--from', dayAgo(4), '--to', dayAgo(1)];
    const out = ['--out', temporaryFolder()];
    const { stdout } = await scene.succeedHere(['export', ...out, ...range], environment);
    expect(stdout).toMatch(/^2 days written: .* 0 left out\.$/m);
    await writeFile(file, 'streams: { events: }\n');
    expect((await scene.here(['gaps'], environment)).code).toBe(0);
    await scene.succeedHere(['run'], environment);
    expect(await scene.database.query('select from daywalk.coverage')).toHaveLength(4);
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
    expect(shown.stdout).toMatch(/^page_length +flag --page-length +30$/m);
    expect(shown.stdout).toMatch(/^concurrency +environment DAYWALK_CONCURRENCY +7$/m);
    expect(shown.stdout).toMatch(/^settle +daywalk\.yaml\S* +2h$/m);
    expect(shown.stdout).toMatch(/^timezone +default +UTC$/m);
  });
});

atNight('doctor: green', async () => {
  const scene = await setScene();
  const shown = await scene.succeed(['doctor']);
  expect(shown.stdout).toMatch(/^✓ database +PostgreSQL \d+/m);
  expect(shown.stdout).toMatch(/^✓ time zone +UTC: the newest closed day is \d{4}-/m);
  expect(shown.stdout).toMatch(/^✓ stream events +API reached, key accepted/m);
  expect(shown.stdout).not.toContain('✗');
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
