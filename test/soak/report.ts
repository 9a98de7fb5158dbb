/** The soak in figures, for docs/reliability.md. */
import { markdownTable } from '../support/reliability-page.ts';
import type { Reading } from './gauges.ts';

/** How often what happened. */
export interface Story {
  kills: number;
  pauses: number;
  cuts: number;
  partitions: number;
  arrivals: number;
  deletions: number;
  faults: number;
}

export interface Soak {
  readonly minutes: number;
  readonly seed: number;
  readonly days: number;
  readonly records: number;
  readonly story: Story;
  readonly readings: readonly Reading[];
}

/** The text and the table. */
export function soakFigures({ minutes, seed, days, records, story, readings }: Soak): string {
  const rows = readings.map((reading) => [
    reading.minute.toFixed(1),
    Math.floor(reading.days),
    reading.rss,
    reading.heap,
    reading.external,
    reading.connections,
    reading.files,
    reading.timers,
  ]);
  return [
    `${minutes} minutes, ${Math.floor(days)} simulated days (seed ${seed}): ${records} records, each exactly once in the end.`,
    `On the way: ${story.faults} faults of the API, ${story.kills} SIGKILLs, ${story.pauses} pauses, ${story.partitions} partitions,`,
    `${story.cuts} cut connections, ${story.arrivals} events that came late, ${story.deletions} that vanished.`,
    'The worker that lives through all of it:',
    '',
    markdownTable(
      [
        'minute#',
        'simulated day#',
        'memory, MB#',
        'of it live heap, MB#',
        'external, MB#',
        'connections#',
        'open files#',
        'timers#',
      ],
      rows,
    ),
  ].join('\n');
}
