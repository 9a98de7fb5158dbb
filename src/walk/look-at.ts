/** Questions whose records are looked into. */
import type { Page, PageRequest } from '../model.ts';
import { recordsIn } from '../source/find-contract.ts';
import type { ProbeFacts } from '../store/probes.ts';
import type { AskingContext } from './context.ts';
import { askShorter } from './questions.ts';

/** The same question in other words, so that no cache answers it: a list that ends before its page shows the same by a shorter one. */
export const askedAgain = (
  first: PageRequest,
  { length }: readonly unknown[],
  time: number,
): PageRequest => ({
  ...first,
  length: Math.max(first.length - time, Math.min(length + 1, first.length)),
});

/** Asks, and shows the records of the answer. */
export async function lookAt(
  context: AskingContext,
  request: PageRequest,
  walkId: number,
): Promise<{ facts: ProbeFacts; list: readonly unknown[]; page: Page }> {
  const { facts, page } = await askShorter(context, request, walkId);
  return { facts, page, list: recordsIn(page.body, context.contract.known?.recordsPath ?? []) };
}
