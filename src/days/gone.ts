/** What the source does not show any more of what it once showed, and what came late: in words. */

import type { Gone } from '../store/publications.ts';
import { counted, formatCount, linesOf } from '../text.ts';
import type { Lateness } from './coverage-rows.ts';
import { acceptCommand, IF_RIGHT } from './gaps.ts';

/** What the source of a stream lost in numbers, as a sentence; null: nothing. */
export function describeLost({ stream, failures }: Pick<Gone, 'stream' | 'failures'>) {
  const worst = failures.at(-1);
  if (worst === undefined) return null;
  const others = failures.length - 1;
  const more = others === 0 ? '' : `, nor some of ${counted(others, 'other day')}`;
  return `${stream}: the source does not show ${formatCount(worst.lost)} of ${formatCount(worst.records)} records of ${worst.day} any more${more}; they are kept here. Find out who deleted them`;
}

/** Sentences about a stream; none where its source shows all that it ever did. */
export function describeGone(standing: Gone): string[] {
  const { stream, gone, days, retiredDays, newestRetired, identified } = standing;
  const lost = describeLost(standing);
  return linesOf(
    lost !== null && `${lost}; ${IF_RIGHT}${acceptCommand(stream)}`,
    gone > 0 &&
      `${stream}: ${counted(gone, 'record')} of ${counted(days, 'day')} ${gone === 1 ? 'is' : 'are'} not shown by the source any more, and kept (gone_since in daywalk.events)${identified ? '' : '; the old versions of changed records count, too, as id_path is not set: `daywalk doctor` suggests one'}`,
    retiredDays > 0 &&
      `${stream}: the source has forgotten ${counted(retiredDays, 'day')}, up to ${newestRetired}; they are kept`,
  );
}

/** A sentence about what came late. */
export function describeLate({ stream, late }: Lateness): string {
  return `${stream}: ${counted(late, 'record')} came after ${late === 1 ? 'its' : 'their'} day had closed (daywalk.lateness)`;
}

/** A sentence about a stream whose source answers one question in different ways, as replicas do that disagree. */
export const describeRestless = (stream: string): string =>
  `${stream}: its source gives different answers to the same request (do its replicas agree?); daywalk asks again until nothing new comes`;
