/** Two workers on one window: what each knows and sends, what the network does to it, and every step that can come next. */
import {
  type Answer,
  execute,
  type Flaw,
  NO_ROWS,
  PAGES,
  type Rows,
  type Statement,
} from './lease-model.ts';

/** A worker. What it knows is what it was told: the rows may be different by now. */
export interface Worker {
  /** The number of its hold; 0: it has no lease. */
  readonly hold: number;
  readonly leaseId: number;
  /** The walk that it goes on with, and where it stands; null: it has to look. */
  readonly walk: { readonly number: number; readonly at: number } | null;
  /** How many pages of that walk its proof speaks of; 0: it has none. It stays in memory while the rows may go back. */
  readonly proof: number;
  /** The statement whose answer it waits for. */
  readonly waitsFor: Statement | null;
}

/** Everything. */
export interface World {
  readonly rows: Rows;
  /** What a standby has; null: no standby has been told yet. */
  readonly standby: Rows | null;
  readonly workers: readonly Worker[];
  /** Copies whose senders do not wait for them any more; each may arrive late, or never. */
  readonly astray: readonly Statement[];
  readonly holds: number;
  readonly left: Budget;
}

/** How much may still go wrong. */
export interface Budget {
  readonly crashes: number;
  /** Answers that do not come. */
  readonly unknown: number;
  readonly shifts: number;
  readonly failovers: number;
}

/** Something that can happen next. */
export interface Step {
  readonly name: string;
  /** The worker that does it; undefined: nobody's. */
  readonly worker?: number;
  /** The statement that Postgres executes in it. */
  readonly executes?: Statement;
  readonly answer?: Answer;
  readonly next: World;
  /** What is wrong with it. */
  readonly wrong: string | null;
}

const IDLE: Worker = { hold: 0, leaseId: 0, walk: null, proof: 0, waitsFor: null };

/** Two idle workers, and a window that is due. */
export function begin(left: Budget): World {
  return { rows: NO_ROWS, standby: null, workers: [IDLE, IDLE], astray: [], holds: 0, left };
}

/** Every step that can come next. */
export function steps(world: World, flaw?: Flaw): Step[] {
  const found: Step[] = [];
  for (const [index, worker] of world.workers.entries())
    found.push(
      ...(worker.waitsFor === null
        ? sends(world, index, worker)
        : waits(world, index, worker, flaw)),
    );
  for (const [index, statement] of world.astray.entries()) {
    const astray = world.astray.filter((_, other) => other !== index);
    found.push({ name: 'a copy never arrives', next: { ...world, astray }, wrong: null });
    found.push({ ...executed(world, statement, flaw), name: `${statement.kind} arrives late` });
    const last = found.at(-1) as Step;
    found[found.length - 1] = { ...last, next: { ...last.next, astray } };
  }
  found.push(...surroundings(world));
  return found;
}

/** What a worker that waits for nothing does next: exactly what the code does. */
function sends(world: World, index: number, worker: Worker): Step[] {
  const send = (
    kind: Statement['kind'],
    change: Partial<Statement> = {},
    next: Partial<Worker> = {},
  ): Step => {
    const { hold, leaseId } = { ...worker, ...next };
    const statement: Statement = {
      kind,
      hold,
      leaseId,
      walk: worker.walk?.number ?? 0,
      at: worker.walk?.at ?? 0,
      proof: kind === 'prove' ? worker.proof : 0,
      ...change,
    };
    return step(world, index, `sends ${kind}`, { ...worker, ...next, waitsFor: statement });
  };
  if (worker.hold === 0) {
    if (world.rows.complete) return [];
    const hold = world.holds + 1;
    const sent = send('acquire', {}, { hold, leaseId: hold });
    return [{ ...sent, next: { ...sent.next, holds: hold } }];
  }
  const found = [...crash(world, index), send('renew'), send('release')];
  if (worker.walk === null) return [...found, looks(world, index, worker), send('open')];
  // The checkpoint may be read anew before the proof is sent: the proof does not change with it.
  if (worker.proof > 0) return [...found, looks(world, index, worker), send('prove')];
  if (worker.walk.at === PAGES)
    return [...found, step(world, index, 'has a proof', { ...worker, proof: PAGES })];
  found.push(send('page'));
  if (world.left.shifts > 0) {
    const ended = send('end');
    found.push({ ...ended, next: spend(ended.next, 'shifts') });
  }
  return found;
}

/** A read: what the walk in progress is, if the lease is still held. */
function looks(world: World, index: number, worker: Worker): Step {
  const { rows } = world;
  const held = rows.holder !== 0 && rows.leaseId === worker.leaseId;
  const walk = rows.walks[rows.current - 1];
  const next = !held
    ? IDLE
    : walk === undefined
      ? { ...worker, walk: null, proof: 0 }
      : {
          ...worker,
          walk: { number: rows.current, at: walk.next },
          proof: rows.current === worker.walk?.number ? worker.proof : 0,
        };
  return step(world, index, 'reads the open walk', next);
}

/** What can become of a worker that waits. */
function waits(world: World, index: number, worker: Worker, flaw?: Flaw): Step[] {
  const statement = worker.waitsFor as Statement;
  const { rows } = world;
  const ran = executed(world, statement, flaw);
  const answer = ran.answer as Answer;
  const told = answered(rows, ran.next.rows, worker, statement, answer);
  const found: Step[] = [
    {
      ...ran,
      worker: index,
      name: `${statement.kind} is answered`,
      next: withWorker(ran.next, index, told),
    },
    ...crash(world, index, statement),
  ];
  if (world.left.unknown === 0) return found;
  // The answer does not come; the copy may have been executed, may arrive late, or never: all three are steps of a copy astray.
  const alone = spend({ ...world, astray: [...world.astray, statement] }, 'unknown');
  const again =
    statement.kind === 'release'
      ? IDLE
      : statement.kind === 'renew'
        ? { ...worker, waitsFor: null }
        : worker;
  found.push({ ...step(alone, index, `${statement.kind} is given up and repeated`, again) });
  return found;
}

/** What a worker does with an answer. */
function answered(
  before: Rows,
  after: Rows,
  worker: Worker,
  statement: Statement,
  answer: Answer,
): Worker {
  const free = { ...worker, waitsFor: null };
  switch (statement.kind) {
    case 'acquire':
      return answer === 'done' ? { ...free, leaseId: after.leaseId } : IDLE;
    case 'open':
      return { ...free, walk: null };
    case 'page': {
      const { number, at } = { number: statement.walk, at: statement.at };
      if (answer === 'done') return { ...free, walk: { number, at: at + 1 } };
      // No row: the rows tell whether an earlier copy was executed.
      const mine =
        before.leaseId === worker.leaseId &&
        before.current === number &&
        (before.walks[number - 1]?.stored.includes(at) ?? false);
      return mine ? { ...free, walk: { number, at: at + 1 } } : IDLE;
    }
    case 'end':
      return { ...free, walk: null, proof: 0 };
    case 'renew':
      return answer === 'done' ? free : IDLE;
    case 'prove':
      // Pages that are not those that were walked: the walk is discarded.
      return answer === 'nothing'
        ? { ...worker, waitsFor: { ...statement, kind: 'end', proof: 0 } }
        : IDLE;
    case 'release':
      return IDLE;
  }
}

/** Executes a statement, and looks whether it may: only the hold that holds the window writes about it (I2). */
function executed(world: World, statement: Statement, flaw?: Flaw): Step {
  const { rows, answer } = execute(world.rows, statement, flaw);
  const wrote = rows !== world.rows && statement.kind !== 'acquire';
  const stranger = wrote && world.rows.holder !== statement.hold;
  return {
    name: statement.kind,
    executes: statement,
    answer,
    next: { ...world, rows },
    wrong: stranger
      ? `I2: hold ${statement.hold} writes (${statement.kind}) while ${world.rows.holder} holds the window`
      : null,
  };
}

/** Leases end, and a server may be replaced by its standby, which is behind. */
function surroundings(world: World): Step[] {
  const found: Step[] = [];
  const { rows, standby, left } = world;
  if (rows.holder !== 0 && !rows.expired)
    found.push({
      name: 'the lease ends',
      next: { ...world, rows: { ...rows, expired: true } },
      wrong: null,
    });
  if (left.failovers > 0 && standby !== rows)
    found.push({ name: 'the standby catches up', next: { ...world, standby: rows }, wrong: null });
  if (left.failovers > 0 && standby !== null)
    found.push({
      name: 'the standby takes over',
      next: spend({ ...world, rows: standby, standby: null }, 'failovers'),
      wrong: null,
    });
  return found;
}

function crash(world: World, index: number, sent?: Statement): Step[] {
  if (world.left.crashes === 0) return [];
  const astray = sent === undefined ? world.astray : [...world.astray, sent];
  return [step(spend({ ...world, astray }, 'crashes'), index, 'dies', IDLE)];
}

const spend = (world: World, what: keyof Budget): World => ({
  ...world,
  left: { ...world.left, [what]: world.left[what] - 1 },
});

const withWorker = (world: World, index: number, worker: Worker): World => ({
  ...world,
  workers: world.workers.map((other, at) => (at === index ? worker : other)),
});

const step = (world: World, index: number, name: string, worker: Worker): Step => ({
  name: `worker ${index} ${name}`,
  worker: index,
  next: withWorker(world, index, worker),
  wrong: null,
});
