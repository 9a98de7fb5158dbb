/** A backfill of a scene without a process of its own: for tests whose subject only begins once something is exported. */
import { afterEach } from 'vitest';
import { exportOptions, exportParts } from '../../src/cli/walk-wiring.ts';
import { systemClock } from '../../src/clock.ts';
import { silentLogger } from '../../src/log.ts';
import type { BackfillOnly } from '../../src/plan/backfill.ts';
import { loadSettings } from '../../src/settings/load.ts';
import type { ApiSettings } from '../../src/settings/settings.ts';
import { openSource } from '../../src/source/source.ts';
import { Database } from '../../src/store/database.ts';
import { backfill, type RunReport } from '../../src/walk/run.ts';
import { inEveryFile } from './hooks.ts';
import { keptWhereDirect } from './kept-plans.ts';
import type { Days } from './multiset.ts';
import type { Scene } from './scene.ts';
import { SOURCE } from './source-options.ts';

/** How it differs from `daywalk backfill --from --to`. */
interface Here {
  readonly only?: BackfillOnly;
  /** As the program would find them in its environment. */
  readonly environment?: Readonly<Record<string, string>>;
}

const log = { ...silentLogger, flush: async () => {} };
/** By their URLs: a connection learns every statement anew, and the second backfill of a test does with those of the first. */
const open = new Map<string, Database>();

/** Walks the days with the settings and the followers that the program would have, at half its work: nothing is started. */
export async function backfillHere(
  scene: Pick<Scene, 'environment'>,
  days: Days,
  { only, environment }: Here = {},
): Promise<RunReport> {
  const settings = loadSettings({
    flags: {},
    environment: { ...scene.environment, ...environment },
    cwd: '/',
    require: ['api', 'database'],
  }) as ApiSettings;
  const url = settings.databaseUrl?.reveal() ?? '';
  const database =
    open.get(url) ??
    new Database({
      url: keptWhereDirect(url),
      connections: 3,
      statementTimeoutMs: settings.statementTimeout,
      patienceMs: settings.databasePatience,
      clock: systemClock,
      log,
    });
  open.set(url, database);
  const source = openSource({
    ...SOURCE,
    baseUrl: settings.apiUrl,
    key: settings.apiKey.reveal(),
    clock: systemClock,
  });
  try {
    return await backfill(
      exportParts(database, source, log, settings),
      { ...exportOptions(settings), concurrency: 1 },
      { ...days, newestFirst: false, ...(only === undefined ? {} : { only }) },
      new AbortController().signal,
    );
  } finally {
    await source.close();
  }
}

inEveryFile(() =>
  afterEach(async () => {
    for (const database of open.values()) await database.close();
    open.clear();
  }),
);
