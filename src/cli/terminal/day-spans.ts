/** Days that follow each other, as one line. */
import { spansOf, spanText } from '../../plan/days.ts';

/** A day, and why it is told. */
export interface ToldDay {
  readonly stream: string;
  readonly day: string;
  readonly reason?: string;
}

/** Days that follow each other, with the same reason, as one line each behind `label`. */
export function daySpans(label: string, days: readonly ToldDay[]): string[] {
  const spans = spansOf(days, ({ stream, reason }) => JSON.stringify([stream, reason]));
  return spans.map(({ newest: { stream, reason }, ...span }) => {
    const why = reason === undefined ? '' : `: ${reason}`;
    return `${label} ${stream} ${spanText(span)}${why}`;
  });
}
