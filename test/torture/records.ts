/** Records for the cases: small, each of its own, spread over time as a case wants them. */
import type { RecordInput } from '../../simulator/simulator.ts';
import { DAY } from './case.ts';

const MS_OF_A_DAY = 86_400_000;

/** A record's text; the serial makes it one of its own. */
export function recordText(
  time: number,
  serial: number | string,
  level = serialLevel(serial),
): string {
  const when = new Date(time).toISOString().replace('Z', '+0000');
  return `{"timestamp":"${when}","id":"e${serial}","rule":{"level":${level}},"n":9007199254740993,"x":1.10}`;
}

const serialLevel = (serial: number | string) => (typeof serial === 'number' ? serial % 16 : 3);

export const timeOf = (wall: string): number => Date.parse(`${wall.replace(' ', 'T')}Z`);

/** So many records, evenly over the day, each at a time of its own. */
export function spread(count: number, day = DAY): RecordInput[] {
  return between(count, timeOf(`${day} 00:00:00`), MS_OF_A_DAY);
}

/** So many records, evenly over a stretch of time; milliseconds. */
export function between(count: number, from: number, span: number, first = 0): RecordInput[] {
  return Array.from({ length: count }, (_, index) => {
    const time = from + Math.floor((index * span) / count) + (index % 7);
    return { text: recordText(time, first + index), time };
  });
}

/** So many records within one second; the level may be the same for all. */
export function inOneSecond(count: number, wall: string, level?: number): RecordInput[] {
  const from = timeOf(wall);
  return Array.from({ length: count }, (_, index) => {
    const time = from + (index % 1000);
    return { text: recordText(time, index, level ?? index % 16), time };
  });
}
