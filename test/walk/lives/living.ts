/** What a person does with an installation in months: settings, verbs, kills, and time that goes by. */
import type { Stream } from '../../../src/model.ts';
import { planPruning, prune } from '../../../src/retention/prune.ts';
import type { Database } from '../../../src/store/database.ts';
import { forgetContract } from '../../../src/store/evidence/contracts.ts';
import { listMovedDays } from '../../../src/store/moved-days.ts';
import { readStreams } from '../../../src/store/streams.ts';
import { acceptSource } from '../../../src/store/windows.ts';
import { moveDays } from '../../../src/tier/move.ts';
import { restoreDays } from '../../../src/tier/restore.ts';
import { listDaysToMove } from '../../../src/tier/rows.ts';
import { backfill, catchUp, type ExportOptions } from '../../../src/walk/run.ts';
import type { TestDatabase } from '../../support/database.ts';
import { exporterParts, OPTIONS } from '../../support/exporter.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { letTimePass } from '../../support/pass-time.ts';
import { expireLeases, hastyClock } from '../../support/store.ts';
import { partsOf } from '../../tier/moving-scene.ts';
import { SETTLE_MS, sharedDatabase } from '../exporting.ts';
import { borrow, type Gate, Killed, killedAt, openGate } from '../perils.ts';
import { DAY_S, type Habits, type World } from './world.ts';

const DAY_MS = DAY_S * 1000;

/** What may be set otherwise between two runs. */
export interface Settings {
  /** Numbers of days; null: none is named. */
  readonly since: number | null;
  readonly until: number | null;
  readonly recheckDays: number;
  readonly windowRecords: number;
  readonly pageLength: number;
  readonly concurrency: number;
  readonly settleHours: number;
  readonly timeZone: string;
  readonly filtered: boolean;
  readonly identified: boolean;
}

export type Step =
  | { readonly do: 'run'; readonly hours: number; readonly kill: number }
  | {
      readonly do: 'backfill';
      readonly from: number;
      readonly days: number;
      readonly only: 'missing' | 'failed' | 'all';
      readonly newestFirst: boolean;
      readonly kill: number;
    }
  | { readonly do: 'set'; readonly change: Partial<Settings> }
  | { readonly do: 'accept' }
  | {
      readonly do: 'prune';
      readonly superseded: boolean;
      readonly age: number;
      readonly kill: number;
    }
  | { readonly do: 'tier'; readonly age: number; readonly kill: number }
  | { readonly do: 'restore'; readonly number: number; readonly kill: number }
  | { readonly do: 'late'; readonly day: number; readonly count: number }
  | { readonly do: 'edit' | 'delete'; readonly number: number }
  | { readonly do: 'keep'; readonly days: number }
  | { readonly do: 'outage'; readonly kind: World['outage'] }
  | { readonly do: 'habit'; readonly change: Partial<Habits> };

export class Life {
  readonly server: TestDatabase;
  readonly world: World;
  readonly database: Database;
  readonly store = new MemoryStore();
  settings: Settings;
  /** How much later than its last closed day the machine is, in milliseconds. */
  readonly #late: number;
  readonly signal = new AbortController().signal;

  constructor(server: TestDatabase, world: World, settings: Settings) {
    this.server = server;
    this.world = world;
    this.settings = settings;
    this.database = sharedDatabase(server);
    const last = Date.parse(`${world.days.at(-1)}T00:00:00Z`) + DAY_MS;
    this.#late = Date.now() - last - SETTLE_MS;
  }

  get streams(): Stream[] {
    const { until, filtered, identified } = this.settings;
    const common = {
      ...(until !== null && { until: this.dayOf(until) }),
      ...(identified && { idPath: ['id'] }),
    };
    const all: Stream = { name: 'all', resource: 'events', filters: {}, ...common };
    const severe: Stream = {
      name: 'severe',
      resource: 'events',
      filters: { rule_level: '12' },
      ...common,
    };
    return filtered ? [all, severe] : [all];
  }

  dayOf = (number: number): string =>
    this.world.days[Math.max(0, Math.min(number, this.world.days.length - 1))] as string;

  options(): ExportOptions {
    const { since, recheckDays, windowRecords, pageLength, concurrency, settleHours, timeZone } =
      this.settings;
    const ahead = (this.world.days.length - this.world.now) * DAY_MS;
    return {
      ...OPTIONS,
      ...{ streams: this.streams, since: since === null ? null : this.dayOf(since) },
      ...{ recheckDays, concurrency, timeZone, walkAttempts: 3 },
      pageLength: this.world.hides ? 30 : pageLength,
      // A counterexample that was told as JSON has null instead.
      windowRecords: windowRecords ?? Number.POSITIVE_INFINITY,
      settleMs: Math.round(SETTLE_MS + this.#late + ahead + settleHours * 3_600_000),
    };
  }

  async newestWalk(): Promise<number> {
    const [row] = await this.server.query<{ newest: number }>(
      'select coalesce(max(walk_id), 0)::int as newest from daywalk.walks',
    );
    return row?.newest ?? 0;
  }

  async pass(hours: number): Promise<void> {
    const interval = `${Math.round(hours * 3_600)} seconds`;
    // What is sealed, and what has moved, says the times that it had.
    await letTimePass(this.server, interval, ['pages', 'ledger', 'marks']);
    await this.server.query(
      `with moved as (
         update daywalk.marks m set since = since - $1::interval
           from daywalk.walks k where k.walk_id = m.walk_id and k.pruning is null and m.since is not null
         returning k.window_id)
       update daywalk.days d set unsealed = true
         from daywalk.windows w
        where w.window_id in (select window_id from moved) and d.stream_id = w.stream_id and d.day = w.day`,
      [interval],
    );
    this.world.now += hours / 24;
  }

  /** Does something as a process that may be killed at one of its steps. @returns what ended it. */
  async #asProcess(
    kill: number,
    work: (database: Database, gate: Gate) => Promise<unknown>,
  ): Promise<Error | null> {
    const gate = kill === 0 ? openGate : killedAt(kill, { taken: 0 });
    const database = kill === 0 ? this.database : borrow(this.database, this.server.url, gate);
    try {
      await work(database, gate);
      return null;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      return error;
    } finally {
      if (database !== this.database) await database.close();
      if (kill !== 0) await expireLeases(this.server);
    }
  }

  #partsOf = (database: Database, gate: Gate) =>
    exporterParts({
      ...{ database, source: this.world.source, clock: hastyClock },
      fetchPage: (request, options) =>
        gate(null, () => this.world.source.fetchPage(request, options)),
    });

  run = (kill = 0): Promise<Error | null> =>
    this.#asProcess(kill, (database, gate) =>
      catchUp(this.#partsOf(database, gate), this.options(), 'hand', this.signal),
    );

  /** @returns what ended it, which somebody may hold to be a fault. */
  async take(step: Step): Promise<Error | null> {
    const { world, database } = this;
    switch (step.do) {
      case 'run':
        await this.pass(step.hours);
        world.note(await this.newestWalk());
        return this.run(step.kill);
      case 'backfill': {
        const { from, days, only, newestFirst } = step;
        const request = { from: this.dayOf(from), to: this.dayOf(from + days), only, newestFirst };
        return this.#asProcess(step.kill, (database, gate) =>
          backfill(this.#partsOf(database, gate), this.options(), request, this.signal),
        );
      }
      case 'set':
        this.settings = { ...this.settings, ...step.change };
        return null;
      case 'accept':
        for (const { streamId } of await readStreams(database, ['all', 'severe'])) {
          await forgetContract(database, streamId);
          await acceptSource(database, streamId);
        }
        return null;
      case 'prune':
        return this.#asProcess(step.kill, async (database) => {
          const kind = step.superseded ? 'superseded' : 'day';
          const plan = await planPruning(database, {
            kind,
            limits: this.#limits(step.age),
            exported: null,
          });
          await prune(database, kind, plan, this.signal);
        });
      case 'tier':
        return this.#asProcess(step.kill, async (database) => {
          const due = await listDaysToMove(database, this.#limits(step.age), true);
          await moveDays(partsOf(database, this.store), due);
        });
      case 'restore':
        return this.#asProcess(step.kill, async (database) => {
          const moved = await listMovedDays(database, null, null);
          const day = moved[step.number % Math.max(1, moved.length)];
          if (day !== undefined)
            await restoreDays(partsOf(database, this.store), [day], this.settings.recheckDays);
        });
      case 'late':
        for (let number = 0; number < step.count; number += 1)
          world.happen(Math.min(step.day, Math.floor(world.now)), world.now);
        return null;
      case 'edit':
      case 'delete': {
        const event = world.some(step.number);
        if (event === undefined) return null;
        if (step.do === 'delete') event.deleted = true;
        else event.version += 1;
        event.since = await this.newestWalk();
        return null;
      }
      case 'keep':
        world.keeps = step.days;
        break;
      case 'outage':
        world.outage = step.kind;
        break;
      case 'habit':
        world.habits = { ...world.habits, ...step.change };
        world.note(await this.newestWalk(), true);
        break;
    }
    world.note(await this.newestWalk());
    return null;
  }

  #limits = (age: number) =>
    ['all', 'severe'].map((stream) => ({ stream, olderThanMs: age * DAY_MS }));
}

export const isKilled = (error: Error): boolean => error instanceof Killed;
