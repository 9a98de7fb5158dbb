/** Hand-made answers: what the simulator would list, cut and wrapped as a case wants it. */
import type { HookAnswer, SimulatedRequest, Simulator } from '../../simulator/simulator.ts';

/** The records of a request's window, newest first. */
export function listing(simulator: Simulator, request: SimulatedRequest): string[] {
  const { fromDate = '', toDate = '', rule_level_from, rule_level_to } = request.query;
  return simulator
    .listed({
      resource: request.resource ?? 'events',
      from: fromDate,
      to: toDate,
      ...(rule_level_from ? { rule_level_from } : {}),
      ...(rule_level_to ? { rule_level_to } : {}),
    })
    .reverse();
}

export const startOf = (request: SimulatedRequest): number => Number(request.query.start);
export const lengthOf = (request: SimulatedRequest): number => Number(request.query.length);

/** The page that was asked for, of any list. */
export function paged(records: readonly string[], request: SimulatedRequest): string[] {
  const start = startOf(request);
  return records.slice(start, start + lengthOf(request));
}

/** An envelope as DataTables has it; `total` is JSON text. */
export function datatables(records: readonly string[], total: string | number | null): HookAnswer {
  const totals = total === null ? '' : `"recordsTotal":${total},"recordsFiltered":${total},`;
  return { body: `{"draw":0,${totals}"data":[${records.join(',')}]}` };
}

/** A list and nothing else. */
export function plainList(records: readonly string[]): HookAnswer {
  return { body: `[${records.join(',')}]` };
}
