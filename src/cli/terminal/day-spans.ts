/** Days that follow each other, as one line. */
import { addDays } from '../../plan/days.ts';

/** A day, and why it is told. */
export interface ToldDay {
  readonly stream: string;
  readonly day: string;
  readonly reason?: string;
}

/** Days that follow each other, with the same reason, as one line each behind `label`. */
export function daySpans(label: string, days: readonly ToldDay[]): string[] {
  const found: { stream: string; reason: string | undefined; from: string; to: string }[] = [];
  for (const { stream, day, reason } of days) {
    const last = found.findLast((span) => span.stream === stream);
    if (last !== undefined && last.reason === reason && addDays(last.to, 1) === day) last.to = day;
    else found.push({ stream, reason, from: day, to: day });
  }
  return found.map(
    ({ stream, reason, from, to }) =>
      `${label} ${stream} ${from === to ? from : `${from} to ${to}`}${reason === undefined ? '' : `: ${reason}`}`,
  );
}
