/** What programs are told of a run: events and documents as their schemas say, one last word, and quiet when all is well. */
import { describe, expect, test } from 'vitest';
import { violations } from '../support/json-schemas.ts';
import { atNight } from '../support/night.ts';
import { CLOSED_PORT } from '../support/ports.ts';
import { API_KEY } from '../support/program.ts';
import { runHere } from '../support/program-here.ts';
import { setScene } from '../support/scene.ts';

const RANGE = ['backfill', '--from', '2026-03-01', '--to', '2026-03-01'];

interface Told {
  readonly event: string;
  readonly [field: string]: unknown;
}
const eventsOf = (stdout: string) =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Told);
const broken = (events: readonly Told[]) => events.flatMap((event) => violations('events', event));

describe('--json-events', () => {
  test('tells each window and page, and the report of --json as the last', async () => {
    const scene = await setScene();
    const { stdout } = await scene.succeed([...RANGE, '--json-events']);
    const events = eventsOf(stdout);
    expect(broken(events)).toEqual([]);
    // On a slow machine it is told how far it is, too.
    const names = events.map(({ event }) => event).filter((name) => name !== 'progress');
    expect(names[0]).toBe('planned');
    expect(new Set(names)).toEqual(
      new Set(['planned', 'claimed', 'page', 'complete', 'following', 'report']),
    );
    const last = events.at(-1);
    expect(last).toMatchObject({
      event: 'report',
      exitCode: 0,
      report: { gaps: [], failures: [] },
    });
    const report = last?.report as Record<string, number>;
    // Cuts are told, too, and count as no windows.
    const whole = events.filter(
      ({ event, window }) => event === 'complete' && (window as { kind: string }).kind !== 'cut',
    );
    expect(whole).toHaveLength(report.windowsComplete ?? 0);
    expect(names.filter((name) => name === 'page')).toHaveLength(report.pages ?? 0);

    const again = JSON.parse((await scene.succeedHere([...RANGE, '--json'])).stdout);
    expect(Object.keys(again)).toEqual(Object.keys(report));
    expect(broken([{ ...last, event: 'report', report: again }])).toEqual([]);
  });

  atNight('tells windows that failed, and a refused key as the last word', async () => {
    const scene = await setScene({
      faults: [{ kind: 'html', when: ({ query }) => query.toDate === '2026-03-01 23:59:59' }],
    });
    const failed = await scene.here([...RANGE, '--json-events']);
    expect(failed.code).toBe(3);
    const events = eventsOf(failed.stdout);
    expect(broken(events)).toEqual([]);
    const days = events.filter(
      ({ event, window }) => event === 'failed' && (window as { kind: string }).kind === 'day',
    );
    expect(days).toHaveLength(2);
    expect(events.at(-1)).toMatchObject({ event: 'report', exitCode: 3 });

    scene.api.set({ faults: [] });
    const refused = await scene.here([...RANGE, '--json-events'], { DAYWALK_API_KEY: 'other' });
    expect(refused.code).toBe(4);
    const last = eventsOf(refused.stdout);
    expect(broken(last)).toEqual([]);
    expect(last.at(-1)).toMatchObject({ event: 'error', exitCode: 4, hint: expect.any(String) });
  });

  test('tells a database that is away as its last word, too, and its only one', async () => {
    const away = {
      DAYWALK_API_URL: `http://127.0.0.1:${CLOSED_PORT}`,
      DAYWALK_API_KEY: API_KEY,
      DATABASE_URL: `postgres://nobody@127.0.0.1:${CLOSED_PORT}/nothing`,
      DAYWALK_DATABASE_PATIENCE: '0s',
    };
    const ended = await runHere(['run', '--json-events'], { environment: away });
    expect(ended).toMatchObject({ code: 5 });
    const events = eventsOf(ended.stdout);
    expect(broken(events)).toEqual([]);
    expect(events).toMatchObject([{ event: 'error', exitCode: 5 }]);
  });

  test('does not go with --json or --quiet', async () => {
    const scene = await setScene();
    for (const other of ['--json', '--quiet']) {
      const ended = await scene.here([...RANGE, '--json-events', other]);
      expect(ended.code).toBe(2);
      expect(ended.stderr).toMatch(/--json-events.*cannot be used with/);
    }
  });
});

test('--quiet says nothing when all is well, and everything that is not', async () => {
  const scene = await setScene({ eventsPerDay: 20 });
  expect(await scene.succeedHere([...RANGE, '--quiet'])).toMatchObject({ stdout: '', stderr: '' });
  scene.api.set({ faults: [{ kind: 'html' }] });
  const failed = await scene.here([
    'backfill',
    '--from',
    '2026-03-03',
    '--to',
    '2026-03-03',
    '--quiet',
  ]);
  expect(failed.code).toBe(3);
  expect(failed.stdout).toMatch(/^Failed: events 2026-03-03/m);
  expect(failed.stderr).toMatch(/the window failed/);
});
