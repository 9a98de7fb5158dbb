/** Visits every state of the two workers, breadth first, so that what is wrong is found in as few steps as can be. */
import { type Flaw, type Rows, type Statement, type WalkRow, wrongRows } from './lease-model.ts';
import { type Budget, begin, steps, type World } from './worker-model.ts';

/** What a visit of all states came to. */
export interface Exploration {
  readonly states: number;
  readonly steps: number;
  /** States from which the window cannot become complete any more. */
  readonly stuck: number;
  /** The first thing that is wrong, and the steps that lead to it. */
  readonly wrong: { readonly what: string; readonly path: readonly string[] } | null;
}

const KINDS: readonly Statement['kind'][] = [
  'acquire',
  'open',
  'page',
  'end',
  'prove',
  'renew',
  'release',
];
const OUTCOMES: readonly WalkRow['outcome'][] = [null, 'shifted', 'proven'];
/** What no number of a state is. */
const NONE = 255;

/**
 * Equal for states that differ in nothing but the numbers of their holds, which are named in order of appearance: otherwise
 * there were no end of states. A letter for each number, written by hand, because it is most of the work.
 */
function keyOf({ rows, standby, workers, astray, left }: World, counted: boolean): string {
  const letters: number[] = [];
  const holds = [0];
  const name = (hold: number): number => {
    const known = holds.indexOf(hold);
    return known === -1 ? holds.push(hold) - 1 : known;
  };
  const add = ({ kind, hold, leaseId, walk, at, proof }: Statement) => {
    letters.push(KINDS.indexOf(kind), name(hold), counted ? leaseId : name(leaseId));
    letters.push(walk, at, proof);
  };
  const addRows = (of: Rows) => {
    letters.push(name(of.holder), counted ? of.leaseId : name(of.leaseId), of.current);
    letters.push(counted ? of.counter : 0, Number(of.expired), Number(of.complete));
    letters.push(of.walks.length);
    for (const { next, stored, outcome } of of.walks)
      letters.push(next, OUTCOMES.indexOf(outcome), stored.length, ...stored);
  };
  addRows(rows);
  if (standby === null) letters.push(NONE);
  else addRows(standby);
  for (const { hold, leaseId, walk, proof, waitsFor } of workers) {
    letters.push(name(hold), counted ? leaseId : name(leaseId), proof);
    letters.push(walk?.number ?? NONE, walk?.at ?? NONE);
    if (waitsFor === null) letters.push(NONE);
    else add(waitsFor);
  }
  letters.push(left.crashes, left.unknown, left.shifts, left.failovers);
  for (const statement of inAnyOrder(astray, holds)) add(statement);
  return String.fromCharCode(...letters);
}

/** Copies astray may arrive in any order, so theirs is no matter; holds that nothing else has are not named yet. */
function inAnyOrder(astray: readonly Statement[], holds: readonly number[]): readonly Statement[] {
  if (astray.length < 2) return astray;
  const keyed = astray.map((statement) => {
    const { kind, hold, walk, at, proof } = statement;
    return { statement, key: `${kind} ${holds.indexOf(hold)} ${walk} ${at} ${proof}` };
  });
  return keyed
    .sort((one, other) => (one.key < other.key ? -1 : 1))
    .map(({ statement }) => statement);
}

/** Visits every state that can be reached; stops at the first that is wrong. */
export function explore(left: Budget, flaw?: Flaw): Exploration {
  const counted = flaw === 'counted lease ids';
  const first = begin(left);
  const index = new Map<string, number>([[keyOf(first, counted), 0]]);
  const worlds: World[] = [first];
  const cameFrom: { from: number; name: string }[] = [{ from: -1, name: 'the beginning' }];
  const before: number[][] = [[]];
  let taken = 0;
  for (let at = 0; at < worlds.length; at++) {
    for (const step of steps(worlds[at] as World, flaw)) {
      taken += 1;
      const { next } = step;
      const key = keyOf(next, counted);
      let to = index.get(key);
      if (to === undefined) {
        to = worlds.push(next) - 1;
        index.set(key, to);
        cameFrom.push({ from: at, name: step.name });
        before.push([]);
      }
      before[to]?.push(at);
      const what = step.wrong ?? wrongRows(next.rows);
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
