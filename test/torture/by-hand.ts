/** What the cases of found faults have in common: servers that answer by hand, and what their tables must hold. */
import type { HookAnswer, RecordInput, SimulatedRequest } from '../../simulator/simulator.ts';
import { type Case, EXACT, type Stage } from './case.ts';
import { listing } from './listing.ts';

/** Answers with what it makes of the records of the window, newest first. */
export type Answering = (
  request: SimulatedRequest,
  list: readonly string[],
) => HookAnswer | undefined;

/** A server of these records that answers by hand; `begin` makes what it remembers anew for every trial. */
export const byHand = (
  name: string,
  server: string,
  records: readonly RecordInput[],
  begin: () => Answering,
  more: Partial<Case> = {},
): Case => ({
  name,
  server,
  expect: EXACT,
  scene: () => {
    const answer = begin();
    return {
      sim: { records },
      respond: (request, simulator) => answer(request, listing(simulator, request)),
    };
  },
  ...more,
});

/** Complains unless so many rows are there. */
export const expectRows =
  (what: string, expected: number) =>
  async ({ query, complain }: Stage): Promise<void> => {
    const [row] = await query<{ n: number }>(`select count(*)::integer as n from ${what}`);
    if (row?.n !== expected) complain(`${row?.n} rows of ${what}, where ${expected} should be`);
  };

/** Whether a whole day is asked for, and not a part of it or a cut. */
export const isWholeDay = ({ query }: SimulatedRequest): boolean =>
  query.fromDate?.endsWith(' 00:00:00') === true &&
  query.toDate === `${query.fromDate.slice(0, 10)} 23:59:59`;
