/** A simulated API exported into a test database: what a verification begins with. */

import { afterAll } from 'vitest';
import {
  type Simulator,
  type SimulatorOptions,
  startSimulator,
} from '../../simulator/simulator.ts';
import { systemClock } from '../../src/clock.ts';
import { silentLogger } from '../../src/log.ts';
import type { Stream } from '../../src/model.ts';
import { openSource } from '../../src/source/source.ts';
import { Database } from '../../src/store/database.ts';
import { backfill, type ExportParts } from '../../src/walk/run.ts';
import { copyOf, createTestDatabase, type TestDatabase } from './database.ts';
import { exporterParts, OPTIONS } from './exporter.ts';
import { inEveryFile } from './hooks.ts';
import { keptWhereDirect } from './kept-plans.ts';
import { SOURCE } from './source-options.ts';

const KEY = 'key-of-the-test';
const DAY = '2026-03-01';

/** A simulator and what was exported from it. */
export interface SimulatedExport {
  readonly api: Simulator;
  readonly server: TestDatabase;
  readonly database: Database;
  readonly parts: ExportParts;
  readonly streams: readonly Stream[];
  readonly day: string;
  /** Exports the days again, as `backfill --only all` does. */
  again(from?: string, to?: string): Promise<void>;
  close(): Promise<void>;
}

/** How it is exported. */
interface Exporting {
  readonly to?: string;
  readonly keepBytes?: boolean;
  readonly pageLength?: number;
}

/** What was exported in this file, by what it was exported from. */
const exported = new Map<string, Promise<TestDatabase>>();
inEveryFile(() => afterAll(() => exported.clear()));

/** Exports one day, or the days up to `to`; the same export from the same API is a copy of the first one. */
export async function simulateExport(
  given: SimulatorOptions = {},
  how: Exporting = {},
): Promise<SimulatedExport> {
  const key = JSON.stringify([given, how]);
  const first = exported.get(key) ?? exportOnce(given, how);
  exported.set(key, first);
  return openExport(await copyOf(await first), given, how);
}

async function exportOnce(given: SimulatorOptions, how: Exporting): Promise<TestDatabase> {
  const scene = await openExport(await createTestDatabase(), given, how);
  await scene.again();
  await scene.close();
  return scene.server;
}

async function openExport(
  server: TestDatabase,
  given: SimulatorOptions,
  { to = DAY, keepBytes = false, pageLength = 100 }: Exporting,
): Promise<SimulatedExport> {
  const api = await startSimulator({
    key: KEY,
    eventsPerDay: 1_250,
    dayVariation: 0,
    seed: 'verify',
    ...given,
  });
  const database = new Database({
    url: keptWhereDirect(server.url),
    connections: 6,
    statementTimeoutMs: 30_000,
    patienceMs: 20_000,
    clock: systemClock,
    log: silentLogger,
  });
  const source = openSource({
    ...SOURCE,
    baseUrl: api.url,
    key: KEY,
    clock: systemClock,
    retryTimeMs: 0,
  });
  const parts = exporterParts({ database, source });
  const options = { ...OPTIONS, keepBytes, pageLength };
  const again = async (from = DAY, last = to) => {
    const request = { from, to: last, only: 'all', newestFirst: false } as const;
    await backfill(parts, options, request, new AbortController().signal);
  };
  return {
    api,
    server,
    database,
    parts,
    streams: options.streams,
    day: DAY,
    again,
    async close() {
      await database.close();
      await source.close();
      await api.close();
    },
  };
}
