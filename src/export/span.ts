/** From a window to requests: which span of time and levels a walk asks for, and how the window is cut. */
import type { Stream } from '../model.ts';
import { repeatedTimes, type Span, type Split, split } from '../plan/split.ts';
import type { Claim } from '../store/leases.ts';
import type { WalkSpan } from '../store/walks.ts';
import type { WalkTarget } from './walk.ts';

/** The requests for a span of a stream. */
export function targetOf({ resource, filters }: Stream, span: Span): WalkTarget {
  const levels = {
    ...(span.levelFrom === null ? {} : { rule_level_from: String(span.levelFrom) }),
    ...(span.levelTo === null ? {} : { rule_level_to: String(span.levelTo) }),
  };
  return { resource, filters: { ...filters, ...levels }, from: span.from, to: span.to };
}

/** A window as a span; its levels are those of a split, not those that the stream itself asks for. */
export function spanOf(claim: Claim): Span {
  const { from, to, levelFrom, levelTo } = claim;
  return { from, to, levelFrom, levelTo };
}

/** Cuts a window; a stream that filters by level itself is cut by time only. */
export function cut(claim: Claim, stream: Stream, timeZone: string, parts: number): Split | null {
  const found = split(spanOf(claim), parts, repeatedTimes(claim.day, timeZone));
  const { rule_level, rule_level_from, rule_level_to } = stream.filters;
  const levelsTaken = [rule_level, rule_level_from, rule_level_to].some(
    (value) => value !== undefined && value !== '',
  );
  return found?.by === 'level' && levelsTaken ? null : found;
}

/** The span that a walk of this window covers. */
export function walkedSpan(claim: Claim, halves: Split | null, which: WalkSpan): Span {
  if (which === 'next day') return { ...spanOf(claim), from: claim.to };
  const half = which === 'first half' ? halves?.parts[0] : halves?.parts[1];
  return which === 'whole' || half === undefined ? spanOf(claim) : half;
}
