/** The year that passes: half a day at a time, with all that happens in it, until the minutes are over. */
import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../support/condition.ts';
import { rememberShown } from './checks.ts';
import type { Reading } from './gauges.ts';
import { dayBefore, Happenings } from './happenings.ts';
import type { Story } from './report.ts';
import { RECHECK_DAYS, type Service } from './service.ts';
import type { SimulatedTime } from './simulated-time.ts';
import type { Site } from './sites.ts';

/** A day passes in halves, so that rechecks fall between; it takes longer where there is more left to do. */
const HALF_DAY = { hours: 12, leastMs: 200, mostMs: 4_000 };
const READINGS = 24;
const PRUNE_EVERY_DAYS = 30;
/** When the key changes, and when the workers are upgraded, as parts of the minutes. */
const ROTATIONS = [0.15, 0.35, 0.65, 0.85];
const UPGRADE = 0.5;
/** What ten years of days take at first, on a busy machine. */
const FIRST_PASS_MS = 600_000;

/** A simulated year, or as much of it as the minutes allow. */
export class Year {
  /** Simulated days so far. */
  days = 0;
  readonly readings: Reading[] = [];
  readonly #time: SimulatedTime;
  readonly #story: Story;
  readonly #random: () => number;
  #remembered: string;

  constructor(time: SimulatedTime, story: Story, random: () => number, firstDay: string) {
    this.#time = time;
    this.#story = story;
    this.#random = random;
    this.#remembered = firstDay;
  }

  /** Waits for the first pass, and until seals and tables have what was there before; then prunes what is too old. */
  async settle(service: Service): Promise<void> {
    const first = async () => {
      await pause(1_000);
      service.expectAlive();
      return (await this.#due()) === 0 && (await this.#behind()) === 0;
    };
    await until('ledger and tables to have ten years', first, FIRST_PASS_MS);
    await service.prune();
    // What so many rows at once leave behind would hide how planning grows.
    await this.#time.database.query('vacuum analyze');
  }

  /** Lets the minutes pass. */
  async pass(service: Service, sites: readonly Site[], minutes: number): Promise<void> {
    const began = performance.now();
    const minute = () => (performance.now() - began) / 60_000;
    const happenings = new Happenings(this.#random, this.#story);
    const rotations = ROTATIONS.map((part) => part * minutes);
    let [nextReading, nextPruning] = [minutes / READINGS, PRUNE_EVERY_DAYS];
    while (minute() < minutes) {
      await this.#halfDay();
      for (const site of sites) await happenings.change(site, this.#time);
      await happenings.strike(service);
      if (minute() >= (rotations[0] ?? Number.POSITIVE_INFINITY)) {
        rotations.shift();
        this.#story.rotations += 1;
        await service.rotateKey(rotations.length % 2 === 0 ? 'file' : 'API');
      }
      if (minute() >= UPGRADE * minutes && (await service.upgradeNext())) this.#story.upgrades += 1;
      if (this.days >= nextPruning) {
        await service.prune();
        nextPruning += PRUNE_EVERY_DAYS;
      }
      if (minute() < nextReading) continue;
      await this.#read(service, minute());
      nextReading += minutes / READINGS;
    }
  }

  /** Lets days pass in which nothing goes wrong, until each was looked at for the last time. */
  async end(service: Service, minutes: number): Promise<void> {
    for (let half = 0; half < 2 * (RECHECK_DAYS + 2); half++) {
      await this.#halfDay();
      await until('nothing to be due', async () => (await this.#due()) === 0);
      service.expectAlive();
    }
    const inStep = async () => {
      await pause(500);
      return (await this.#behind()) === 0;
    };
    await until('ledger and tables to be in step', inStep);
    await this.#read(service, minutes);
  }

  async #halfDay(): Promise<void> {
    await this.#time.advance(HALF_DAY.hours);
    this.days += 0.5;
    await pause(HALF_DAY.leastMs);
    const end = performance.now() + HALF_DAY.mostMs;
    while ((await this.#due()) > 0 && performance.now() < end) await pause(30);
  }

  /** Windows that are due, held or not. */
  async #due(): Promise<number> {
    const [row] = await this.#time.database.query<{ due: number }>(
      'select count(*)::int as due from daywalk.windows where due_at <= simulated.clock_timestamp()',
    );
    return row?.due ?? 0;
  }

  /** Days that the ledger or a table does not have as they are. */
  async #behind(): Promise<number> {
    const [row] = await this.#time.database.query<{ behind: number | null }>(
      `select (count(*) + (select sum(behind) from daywalk.tables))::int as behind
         from daywalk.days where unsealed`,
    );
    return row?.behind ?? Number.POSITIVE_INFINITY;
  }

  async #read(service: Service, minute: number): Promise<void> {
    const today = await this.#time.today('UTC');
    await rememberShown(this.#time.database, this.#remembered);
    this.#remembered = dayBefore(today, RECHECK_DAYS + 3);
    this.readings.push({ minute, days: this.days, ...(await service.read()) });
  }
}
