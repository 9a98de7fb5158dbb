/** A failover that comes at a chosen statement of the program. */
import type { TestDatabase } from '../support/database.ts';
import type { Moment, Verdict } from '../support/step-proxy.ts';
import { type Held, readHeld } from './checks.ts';
import type { Node, PatroniCluster } from './patroni.ts';
import { type Failover, MIDSTS } from './plan.ts';

/** What takes effect, and is lost where the standby does not get it. */
const EFFECT =
  /daywalk\.(?:store_page|prove_window|prove_cut|split_window|close_split|append_to_ledger|end_table_day|mark_pruned)/;
/** Where the program has little left to do, the blow does not wait for more. */
const LONGEST_LAG_MS = 1_000;

/** The blow was struck. */
export interface Struck {
  /** When, by `performance.now()`. */
  readonly at: number;
  /** What the database had then. */
  readonly held: Held;
}

/** One failover; every statement of the program is shown to it until it comes. */
export class Blow {
  /** Resolves when the primary is dead, or was told to hand over. */
  readonly struck: Promise<Struck>;
  /** Resolves when nothing more comes of it. */
  over: Promise<void> = Promise.resolve();
  readonly #cluster: PatroniCluster;
  readonly #failover: Failover;
  readonly #leader: Node;
  readonly #database: TestDatabase;
  #tell: (struck: Struck) => void = () => {};
  #fail: (error: unknown) => void = () => {};
  #seen = 0;
  #unheard = 0;
  #state: 'waiting' | 'lagging' | 'struck' = 'waiting';

  constructor(cluster: PatroniCluster, failover: Failover, leader: Node, database: TestDatabase) {
    this.#cluster = cluster;
    this.#failover = failover;
    this.#leader = leader;
    this.#database = database;
    this.struck = new Promise((resolve, reject) => {
      this.#tell = resolve;
      this.#fail = reject;
    });
    this.struck.catch(() => undefined);
  }

  /** Its moment has not come. */
  get waits(): boolean {
    return this.#state === 'waiting';
  }

  /** A statement of the program. */
  async meet(statement: string, moment: Moment): Promise<Verdict> {
    const { midst, nth, lost } = this.#failover;
    if (this.#state === 'waiting' && moment === this.#failover.moment) {
      if (!MIDSTS[midst].test(statement)) return 'pass';
      this.#seen += 1;
      if (this.#seen < nth) return 'pass';
      if (lost === 0) await this.#strike();
      else this.#lag();
    } else if (this.#state === 'lagging' && moment === 'after' && EFFECT.test(statement)) {
      this.#unheard += 1;
      if (this.#unheard >= lost) await this.#strike();
    }
    return 'pass';
  }

  /** From now on the standby gets nothing, and the primary does not wait for it. */
  #lag(): void {
    this.#state = 'lagging';
    this.#leader.line.freeze();
    setTimeout(() => void this.#strike(), LONGEST_LAG_MS).unref();
  }

  async #strike(): Promise<void> {
    if (this.#state === 'struck') return;
    this.#state = 'struck';
    try {
      const held = await readHeld(this.#database);
      const at = performance.now();
      if (this.#failover.way === 'switchover') this.over = this.#cluster.switchover(this.#leader);
      else {
        await this.#cluster.kill(this.#leader, this.#failover.way === 'node killed');
        this.#leader.line.thaw();
      }
      this.over.catch(() => undefined);
      this.#tell({ at, held });
    } catch (error) {
      this.#fail(error);
    }
  }
}
