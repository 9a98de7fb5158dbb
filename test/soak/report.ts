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
  rotations: number;
  upgrades: number;
  prunedDays: number;
  supersededDays: number;
}

/** Nothing has happened yet. */
export const newStory = (): Story => ({
  kills: 0,
  pauses: 0,
  cuts: 0,
  partitions: 0,
  arrivals: 0,
  deletions: 0,
  faults: 0,
  rotations: 0,
  upgrades: 0,
  prunedDays: 0,
  supersededDays: 0,
});

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
    reading.plan.buffers,
    reading.plan.ms.toFixed(1),
    reading.due.buffers,
    reading.due.ms.toFixed(1),
  ]);
  return [
    `${minutes} minutes, ${Math.floor(days)} simulated days behind ten years (seed ${seed}): ${records} records, each exactly once in the end.`,
    `On the way: ${story.faults} faults of the APIs, ${story.kills} SIGKILLs, ${story.pauses} pauses, ${story.partitions} partitions,`,
    `${story.cuts} cut connections, ${story.arrivals} events that came late, ${story.deletions} that vanished, ${story.rotations} new keys,`,
    `${story.upgrades} workers restarted into another build; ${story.prunedDays} days were pruned, and superseded walks of ${story.supersededDays}.`,
    'The worker that lives through all of it, and what planning costs for both streams:',
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
        'planning, buffers#',
        'ms#',
        'finding due windows, buffers#',
        'ms#',
      ],
      rows,
    ),
  ].join('\n');
}
