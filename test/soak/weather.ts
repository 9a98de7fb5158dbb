/** What goes wrong at the API: a fault for some requests, drawn by chance, as long as the weather is bad. */
import type { Fault, Hook } from '../../simulator/simulator.ts';

const FAULTS: readonly Fault[] = [
  { kind: 'status', status: 429, retryAfter: 1 },
  { kind: 'status', status: 500 },
  { kind: 'status', status: 502 },
  { kind: 'status', status: 503, retryAfter: 'date+1' },
  { kind: 'reset' },
  { kind: 'hang-up' },
  { kind: 'reset-body' },
  { kind: 'truncate' },
  { kind: 'cut-chunked' },
  { kind: 'cut-close' },
  { kind: 'truncate-gzip' },
  { kind: 'false-gzip' },
  { kind: 'html' },
  { kind: 'error-object' },
  { kind: 'empty-body' },
  { kind: 'wrong-json' },
  { kind: 'null-list' },
  { kind: 'stall' },
  { kind: 'stall-body' },
  { kind: 'drip', bytes: 200, ms: 5 },
];
const SHARE = 0.05;

/** The weather, and how often it struck. */
export interface Weather {
  readonly hook: Hook;
  readonly faults: () => number;
  readonly isBad: () => boolean;
  turn(to: 'bad' | 'fair'): void;
}

/** Fair weather, in which nothing goes wrong, until it turns. */
export function makeWeather(random: () => number): Weather {
  let bad = false;
  let faults = 0;
  return {
    hook: () => {
      if (!bad || random() >= SHARE) return undefined;
      faults += 1;
      return FAULTS[Math.floor(random() * FAULTS.length)];
    },
    faults: () => faults,
    isBad: () => bad,
    turn: (to) => {
      bad = to === 'bad';
    },
  };
}
