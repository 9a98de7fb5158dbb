/** Days that follow each other, as one line. */
import { addDays } from '../../plan/days.ts';

/** Days that follow each other, with the same text, as one line each. */
export function daySpans(days: readonly { stream: string; day: string; text: string }[]): string[] {
  const found: { stream: string; text: string; from: string; to: string }[] = [];
  for (const { stream, day, text } of days) {
    const last = found.findLast((span) => span.stream === stream);
    if (last?.text === text && addDays(last.to, 1) === day) last.to = day;
    else found.push({ stream, text, from: day, to: day });
  }
  return found.map(
    ({ stream, text, from, to }) => `${stream} ${from === to ? from : `${from} to ${to}`}${text}`,
  );
}
