/** An export in the process of the test, with all that follows one: where the start of a program is not the subject. */
import { onTestFinished } from 'vitest';
import type { Simulator } from '../../simulator/simulator.ts';
import { systemClock } from '../../src/clock.ts';
import { sealing } from '../../src/ledger/seal.ts';
import { silentLogger } from '../../src/log.ts';
import type { DayRange, Stream } from '../../src/model.ts';
import type { BackfillOnly } from '../../src/plan/backfill.ts';
import { openSource } from '../../src/source/source.ts';
import { filtering } from '../../src/tables/page-filters.ts';
import { keepingTables } from '../../src/tables/record-tables.ts';
import { backfill, type RunReport } from '../../src/walk/run.ts';
import { EVENTS, exporterParts, OPTIONS } from './exporter.ts';
import { API_KEY } from './program.ts';
import { SOURCE } from './source-options.ts';
import { openDatabase } from './store.ts';

const STREAMS: readonly Stream[] = [
  EVENTS,
  { name: 'smart-event', resource: 'smart-event', filters: {} },
];

/** Exports days of the simulated API into the database at `url`, as `daywalk backfill` does. */
export async function exportHere(
  api: Simulator,
  url: string,
  range: DayRange,
  only: BackfillOnly,
): Promise<RunReport> {
  const database = openDatabase(url, { connections: 6 });
  const source = openSource({ ...SOURCE, baseUrl: api.url, key: API_KEY, clock: systemClock });
  onTestFinished(() => source.close());
  const log = silentLogger;
  const parts = {
    ...exporterParts({ database, source }),
    followers: [
      sealing({ database, log }),
      keepingTables({ database, log }, []),
      filtering({ database }),
    ],
  };
  const options = { ...OPTIONS, streams: STREAMS, pageLength: 40 };
  const request = { ...range, only, newestFirst: false };
  return backfill(parts, options, request, new AbortController().signal);
}
