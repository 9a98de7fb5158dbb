/** The lease and the walk of one window as a state machine; each rule about rows mirrors one SQL statement (ARCHITECTURE, leases). */

/** Pages that a whole walk has. */
export const PAGES = 2;

/** A walk's row, and the numbers of its stored pages in the order in which they were stored. */
export interface WalkRow {
  readonly next: number;
  readonly stored: readonly number[];
  readonly outcome: 'shifted' | 'proven' | null;
}

/** The rows of one window. */
export interface Rows {
  /** The number of the hold that has the window; 0: none. */
  readonly holder: number;
  /** What statements compare: the lease id of that hold. Equal to its number, unless ids are counted. */
  readonly leaseId: number;
  /** The last id that was counted. */
  readonly counter: number;
  readonly expired: boolean;
  readonly complete: boolean;
  /** The number of the walk in progress, from 1; 0: none. */
  readonly current: number;
  readonly walks: readonly WalkRow[];
}

/** A statement about the window; `hold` says for which time of holding it a worker sends it, `leaseId` is what it carries. */
export interface Statement {
  readonly kind: 'acquire' | 'open' | 'page' | 'end' | 'prove' | 'renew' | 'release';
  readonly hold: number;
  readonly leaseId: number;
  /** The walk that it is about, by number; 0: none. */
  readonly walk: number;
  /** The checkpoint that it expects. */
  readonly at: number;
  /** How many pages its proof speaks of; 0: it carries none. */
  readonly proof: number;
}

/** What Postgres answers. */
export type Answer = 'done' | 'nothing' | 'lost';

/** A fault of the design, for showing that the model can find one. */
export type Flaw =
  | 'no lease check'
  | 'no compare-and-set'
  | 'counted lease ids'
  | 'no sum at proving'
  | 'proof is not compared';

export const NO_ROWS: Rows = {
  holder: 0,
  leaseId: 0,
  counter: 0,
  expired: false,
  complete: false,
  current: 0,
  walks: [],
};

/** What a statement does to the rows, and its answer. */
export function execute(
  rows: Rows,
  statement: Statement,
  flaw?: Flaw,
): { rows: Rows; answer: Answer } {
  const held =
    rows.holder !== 0 && (rows.leaseId === statement.leaseId || flaw === 'no lease check');
  const walk = rows.walks[statement.walk - 1];
  const same = (answer: Answer) => ({ rows, answer });
  switch (statement.kind) {
    case 'acquire': {
      if (flaw !== 'counted lease ids' && rows.holder === statement.hold) return same('done');
      if (rows.complete || (rows.holder !== 0 && !rows.expired)) return same('nothing');
      const counter = rows.counter + 1;
      const leaseId = flaw === 'counted lease ids' ? counter : statement.hold;
      return done({ ...rows, holder: statement.hold, leaseId, counter, expired: false });
    }
    case 'open':
      if (!held || rows.current !== 0) return same('nothing');
      return done({
        ...rows,
        current: rows.walks.length + 1,
        walks: [...rows.walks, { next: 0, stored: [], outcome: null }],
      });
    case 'page': {
      const fits =
        flaw === 'no compare-and-set' || (walk?.next === statement.at && walk.outcome === null);
      if (!held || walk === undefined || rows.current !== statement.walk || !fits)
        return same('nothing');
      const stored = [...walk.stored, statement.at];
      return done(
        withWalk({ ...rows, expired: false }, statement.walk, {
          ...walk,
          next: walk.next + 1,
          stored,
        }),
      );
    }
    case 'end': {
      if (!held || walk === undefined || walk.outcome !== null) return same('nothing');
      const current = rows.current === statement.walk ? 0 : rows.current;
      return done(withWalk({ ...rows, current }, statement.walk, { ...walk, outcome: 'shifted' }));
    }
    case 'prove': {
      if (!held) return same(walk?.outcome === 'proven' ? 'done' : 'lost');
      if (walk === undefined) return same('nothing');
      const sound =
        walk.outcome === null &&
        walk.next === statement.at &&
        walk.stored.every((page, at) => page === at) &&
        (walk.next === statement.proof || flaw === 'proof is not compared');
      if (!sound && flaw !== 'no sum at proving') return same('nothing');
      const proven = withWalk(rows, statement.walk, { ...walk, outcome: 'proven' });
      return done({ ...proven, ...FREE, complete: true, current: 0 });
    }
    case 'renew':
      return held ? done({ ...rows, expired: false }) : same('lost');
    case 'release':
      return held ? done({ ...rows, ...FREE }) : same('nothing');
  }
}

const FREE = { holder: 0, leaseId: 0, expired: false };
const done = (rows: Rows): { rows: Rows; answer: Answer } => ({ rows, answer: 'done' });

function withWalk(rows: Rows, number: number, walk: WalkRow): Rows {
  return {
    ...rows,
    walks: rows.walks.map((other, index) => (index === number - 1 ? walk : other)),
  };
}

/** What must never be in the rows (I1, I3, I4). */
export function wrongRows(rows: Rows): string | null {
  for (const [index, { next, stored, outcome }] of rows.walks.entries()) {
    if (stored.length !== next)
      return `I1: walk ${index + 1} is at ${next} with ${stored.length} pages`;
    if (stored.some((page, at) => page !== at))
      return `I3: walk ${index + 1} has the pages ${stored}`;
    if (outcome === 'proven' && next !== PAGES)
      return `I4: walk ${index + 1} is proven with ${next} pages`;
  }
  if (rows.complete && !rows.walks.some(({ outcome }) => outcome === 'proven'))
    return 'I4: complete, and nothing shows it';
  return null;
}
