/** Lets the statements, requests and waits of several processes through one at a time, in an order that is drawn: each seed is one interleaving. */
import { type Clock, letOthersGo, systemClock } from '../../src/clock.ts';
import { OutcomeUnknownError } from '../../src/store/connection/sqlstate.ts';
import { dice } from '../support/dice.ts';
import { type Gate, Killed } from './perils.ts';

/** How the next one is drawn: by chance, one process for a while, or by a rank that each has from its beginning. */
export type Manner = 'chance' | 'bursts' | 'ranks';

/** Of those that wait since so many steps the oldest is next: nothing waits for ever. */
const LONGEST_WAIT = 80;
/** Turns of the event loop after which whatever follows from a step waits for its own. */
const TURNS = 3;
/** Nothing waits and nothing has ended for so long: it hangs. */
const HANGS_MS = 20_000;
/** More steps than that are a circle. */
const MOST_STEPS = 20_000;
/** Statements that change something: what an unknown outcome means depends on them. */
const WRITES = /\b(call|update|insert|delete)\b|daywalk\.(prove|append|split)_/;
/** How often the process changes that takes a burst of steps. */
const CHANGES = 0.06;

/** A statement of a process that changes something, by its number, at which its connection is cut: Postgres never has it, has it, or gets it later. */
export interface Cut {
  readonly at: number;
  readonly when: 'before' | 'after' | 'late';
}

interface Waiting {
  readonly owner: string;
  readonly rank: number;
  readonly since: number;
  readonly go: () => Promise<void>;
}

export class Scheduler {
  /** Steps that were taken. */
  step = 0;
  /** What was let through, for who asks where it hangs. */
  readonly told: string[] = [];
  readonly #manner: Manner;
  readonly #random: () => number;
  readonly #killed = new Set<string>();
  #waiting: Waiting[] = [];
  #favourite = '';

  constructor(seed: number, manner: Manner) {
    this.#random = dice(seed);
    this.#manner = manner;
  }

  /** The gate of one process, whose connection is cut at some of the statements that change something. */
  gate(owner: string, cuts: readonly Cut[] = []): Gate {
    let taken = 0;
    return <T>(statement: string | null, act: () => Promise<T>): Promise<T> => {
      const what = statement ?? 'a request';
      if (!WRITES.test(what)) return this.#pass(owner, what, act);
      taken += 1;
      const at = taken;
      const cut = cuts.find((one) => one.at === at)?.when;
      if (cut === undefined) return this.#pass(owner, what, act);
      return this.#pass(owner, `cut ${cut}: ${what}`, async () => {
        if (cut === 'after') await act();
        // It is on its way, and nobody waits for it any more.
        if (cut === 'late') this.#pass(owner, `late: ${what}`, act).catch(() => {});
        throw new OutcomeUnknownError(`cut ${cut}`);
      });
    };
  }

  /** Time as a process has it: its waits are steps, its deadlines do not pass, and nothing renews a lease but its pages. */
  clock(owner: string): Clock {
    const random = dice(owner.length);
    return {
      ...systemClock,
      random,
      sleep: (_, signal) => this.#pass(owner, 'wait', async () => signal?.throwIfAborted()),
      timeout: () => new AbortController().signal,
      every: () => () => {},
    };
  }

  /** From now on nothing of this process happens. */
  kill(owner: string): void {
    this.#killed.add(owner);
  }

  /**
   * Goes on until nobody is under way and nothing is to come.
   * @param before is called before each step.
   * @param idle is called when nobody is under way: what would happen later happens now. It says whether there was anything.
   */
  async drive(
    isUnderWay: () => boolean,
    before: (step: number) => Promise<void>,
    idle: () => Promise<boolean>,
  ): Promise<void> {
    let since = performance.now();
    for (;;) {
      await letOthersGo(TURNS);
      if (this.#waiting.length === 0) {
        if (!isUnderWay()) {
          if (!(await idle())) return;
          since = performance.now();
        } else if (performance.now() - since > HANGS_MS)
          throw this.#stuck('it hangs: nothing is asked');
        else await systemClock.sleep(1);
        continue;
      }
      if (this.step >= MOST_STEPS) throw this.#stuck('it does not end');
      await before(this.step);
      const next = this.#draw();
      this.#waiting = this.#waiting.filter((one) => one !== next);
      this.step += 1;
      await next.go();
      since = performance.now();
    }
  }

  #stuck(why: string): Error {
    return new Error(`${why}, after step ${this.step}:\n${this.told.slice(-20).join('\n')}`);
  }

  #draw(): Waiting {
    const waiting = this.#waiting;
    const oldest = waiting.reduce((one, other) => (other.since < one.since ? other : one));
    if (this.step - oldest.since > LONGEST_WAIT) return oldest;
    const among = (list: readonly Waiting[]) =>
      list[Math.floor(this.#random() * list.length)] as Waiting;
    if (this.#manner === 'chance') return among(waiting);
    if (this.#manner === 'ranks')
      return waiting.reduce((one, other) => (other.rank > one.rank ? other : one));
    const favoured = waiting.filter(({ owner }) => owner === this.#favourite);
    if (favoured.length > 0 && this.#random() > CHANGES) return among(favoured);
    const next = among(waiting);
    this.#favourite = next.owner;
    return next;
  }

  #pass<T>(owner: string, what: string, act: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const go = async () => {
        this.told.push(`${owner}: ${what}`);
        try {
          if (this.#killed.has(owner)) throw new Killed(owner);
          resolve(await act());
        } catch (error) {
          reject(error);
        }
      };
      this.#waiting.push({ owner, rank: this.#random(), since: this.step, go });
    });
  }
}
