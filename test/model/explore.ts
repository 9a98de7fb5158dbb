/** Visits every state of the two workers, breadth first, so that what is wrong is found in as few steps as can be. */
import { type Flaw, type Rows, type Statement, wrongRows } from './lease-model.ts';
import { type Budget, begin, type Step, steps, type Worker, type World } from './worker-model.ts';

/** What a visit of all states came to. */
export interface Exploration {
  readonly states: number;
  readonly steps: number;
  /** States from which the window cannot become complete any more. */
  readonly stuck: number;
  /** The first thing that is wrong, and the steps that lead to it. */
  readonly wrong: { readonly what: string; readonly path: readonly string[] } | null;
}

/** The same state, its holds numbered in order of appearance: without this there were no end of states. */
export function canonical(world: World, counted: boolean): World {
  if (counted) return world;
  const names = new Map<number, number>([[0, 0]]);
  const name = (hold: number): number => {
    const known = names.get(hold);
    if (known !== undefined) return known;
    names.set(hold, names.size);
    return names.size - 1;
  };
  const rowsOf = (rows: Rows): Rows => ({
    ...rows,
    holder: name(rows.holder),
    leaseId: name(rows.leaseId),
    counter: 0,
  });
  const statementOf = <S extends { hold: number; leaseId: number }>(statement: S): S => ({
    ...statement,
    hold: name(statement.hold),
    leaseId: name(statement.leaseId),
  });
  const workerOf = (worker: Worker): Worker => ({
    ...statementOf(worker),
    waitsFor: worker.waitsFor === null ? null : statementOf(worker.waitsFor),
  });
  const rows = rowsOf(world.rows);
  const standby = world.standby === null ? null : rowsOf(world.standby);
  const workers = world.workers.map(workerOf);
  const astray = world.astray
    .map(statementOf)
    .sort((one, other) => (keyOfStatement(one) < keyOfStatement(other) ? -1 : 1));
  return { ...world, rows, standby, workers, astray, holds: names.size - 1 };
}

const keyOfStatement = ({ kind, hold, leaseId, walk, at, proof }: Statement) =>
  `${kind} ${hold} ${leaseId} ${walk} ${at} ${proof}`;

const keyOfRows = (rows: Rows) =>
  `${rows.holder} ${rows.leaseId} ${rows.counter} ${rows.expired} ${rows.complete} ${rows.current} ${rows.walks
    .map(({ next, stored, outcome }) => `${next}:${stored}:${outcome}`)
    .join()}`;

/** Equal for equal states; written by hand, because it is most of the work. */
function keyOf({ rows, standby, workers, astray, holds, left }: World): string {
  const known = workers.map(
    ({ hold, leaseId, walk, proof, waitsFor }) =>
      `${hold} ${leaseId} ${proof} ${walk === null ? '' : `${walk.number}@${walk.at}`} ${waitsFor === null ? '' : keyOfStatement(waitsFor)}`,
  );
  const budget = `${left.crashes} ${left.unknown} ${left.shifts} ${left.failovers}`;
  return `${keyOfRows(rows)}|${standby === null ? '' : keyOfRows(standby)}|${known.join('|')}|${astray
    .map(keyOfStatement)
    .join()}|${holds}|${budget}`;
}

/** Visits every state that can be reached; stops at the first that is wrong. */
export function explore(left: Budget, flaw?: Flaw): Exploration {
  const counted = flaw === 'counted lease ids';
  const first = canonical(begin(left), counted);
  const index = new Map<string, number>([[keyOf(first), 0]]);
  const worlds: World[] = [first];
  const cameFrom: { from: number; name: string }[] = [{ from: -1, name: 'the beginning' }];
  const before: number[][] = [[]];
  let taken = 0;
  for (let at = 0; at < worlds.length; at++) {
    for (const step of steps(worlds[at] as World, flaw)) {
      taken += 1;
      const next = canonical(step.next, counted);
      const key = keyOf(next);
      let to = index.get(key);
      if (to === undefined) {
        to = worlds.push(next) - 1;
        index.set(key, to);
        cameFrom.push({ from: at, name: step.name });
        before.push([]);
      }
      before[to]?.push(at);
      const what = wrongIn(step, next);
      if (what !== null)
        return {
          states: worlds.length,
          steps: taken,
          stuck: 0,
          wrong: { what, path: [...pathTo(at, cameFrom), step.name] },
        };
    }
  }
  return {
    states: worlds.length,
    steps: taken,
    stuck: worlds.length - fromWhereComplete(worlds, before),
    wrong: null,
  };
}

const wrongIn = (step: Step, next: World): string | null => step.wrong ?? wrongRows(next.rows);

function pathTo(at: number, cameFrom: readonly { from: number; name: string }[]): string[] {
  const path: string[] = [];
  for (let here = at; here > 0; here = cameFrom[here]?.from ?? 0)
    path.unshift(cameFrom[here]?.name ?? '');
  return path;
}

/** From how many states a complete one can be reached: backwards from those that are. */
function fromWhereComplete(
  worlds: readonly World[],
  before: readonly (readonly number[])[],
): number {
  const good = new Set<number>();
  const queue: number[] = [];
  for (const [at, world] of worlds.entries())
    if (world.rows.complete) {
      good.add(at);
      queue.push(at);
    }
  for (let at = queue.pop(); at !== undefined; at = queue.pop())
    for (const earlier of before[at] ?? [])
      if (!good.has(earlier)) {
        good.add(earlier);
        queue.push(earlier);
      }
  return good.size;
}
