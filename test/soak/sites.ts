/** The sites whose events are exported into one database: an API each, on both hemispheres, and the settings of its workers. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';
import type { Weather } from './weather.ts';

/** Where clocks are moved, and in opposite seasons; of one ten years are kept, of the other weeks, and a record table. */
const SITES = [
  { name: 'berlin', timeZone: 'Europe/Berlin', retention: '3650d', tableOutlives: false },
  { name: 'sydney', timeZone: 'Australia/Sydney', retention: '45d', tableOutlives: true },
] as const;

/** A site; its only stream has its name, and its table is called `{name}_records`. */
export interface Site {
  readonly name: string;
  readonly timeZone: string;
  /** Its table is kept for ever, and not as long as the pages. */
  readonly tableOutlives: boolean;
  readonly api: Simulator;
  /** Its `daywalk.yaml`. */
  readonly settings: string;
}

/**
 * Opens all sites.
 * @param folder for their settings.
 * @param since the first day that has simulated events.
 */
export function openSites(
  folder: string,
  seed: number,
  key: string,
  since: string,
  weather: Weather,
): Promise<Site[]> {
  return Promise.all(
    SITES.map(async ({ name, timeZone, retention, tableOutlives }) => {
      const api = await startSimulator({
        key,
        timeZone,
        seed: `${name} ${seed}`,
        from: since,
        eventsPerDay: 14,
        emptyDays: 0.03,
        latency: [0, 4],
        logLimit: 1_000,
        respond: weather.hook,
      });
      const settings = join(folder, name, 'daywalk.yaml');
      mkdirSync(join(folder, name));
      writeFileSync(
        settings,
        `timezone: ${timeZone}
retention: ${retention}
streams:
  ${name}:
    resource: events
tables:
  ${name}_records:
    stream: ${name}
    record: yes${tableOutlives ? '\n    retention: forever' : ''}
    columns:
      at: { path: timestamp, type: timestamptz, index: yes }
      rule: { path: rule.id, index: yes }
`,
      );
      return { name, timeZone, tableOutlives, api, settings };
    }),
  );
}
