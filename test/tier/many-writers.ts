/** Several writers of the log, killed between any two operations, and what a day costs in a table that holds many. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Clock, systemClock } from '../../src/clock.ts';
import type { LiveFile } from '../../src/tier/delta/delta-actions.ts';
import { type DayFile, DeltaLog } from '../../src/tier/delta/delta-log.ts';
import { type Death, Killed, MemoryStore, mortal } from '../support/memory-store.ts';
import { ANYBODY, filesAt } from './live-file.ts';

const signal = new AbortController().signal;
const DAY_MS = 86_400_000;
const START = Date.parse('2026-01-01T03:00:00Z');
const NEVER: Death = { operation: Number.POSITIVE_INFINITY, done: true };
const FIRST_DAYS = ['2026-01-01', '2026-01-02', '2026-01-03'];

const dayAt = (time: number): string => new Date(time).toISOString().slice(0, 10);

const fileOf = filesAt(START);

function stage() {
  const time = { now: START };
  const clock: Clock = { ...systemClock, now: () => time.now };
  return { time, clock, store: new MemoryStore() };
}

const keyOf = ({ stream, day }: LiveFile['partitionValues']): string => `${stream} ${day}`;

/** The object of a file, as a move writes it before it commits. */
const putObject = (store: MemoryStore, { path, size }: LiveFile): Promise<void> =>
  store.replace(`events/${path}`, Buffer.alloc(size));

/** What one who knows nothing reads: the path of each day, and that its object is there. */
async function readDays(store: MemoryStore, clock: Clock): Promise<Record<string, string>> {
  const files = await new DeltaLog(store, clock, ANYBODY).files(signal);
  const days: Record<string, string> = {};
  for (const { partitionValues, path } of files.values()) {
    const key = keyOf(partitionValues);
    expect(days[key], `${key} is there twice`).toBeUndefined();
    expect(store.objects.has(`events/${path}`), `${path} is removed`).toBe(true);
    days[key] = path;
  }
  return days;
}

/** A process that writes, and is started anew when it was killed. */
class Writer {
  readonly #store: MemoryStore;
  readonly #clock: Clock;
  readonly #turn: (() => Promise<unknown>) | undefined;
  #death: Death = { ...NEVER };
  #log: DeltaLog;

  constructor(store: MemoryStore, clock: Clock, turn?: () => Promise<unknown>) {
    this.#store = store;
    this.#clock = clock;
    this.#turn = turn;
    this.#log = this.#start();
  }

  #start(): DeltaLog {
    return new DeltaLog(mortal(this.#store, this.#death, this.#turn), this.#clock, ANYBODY);
  }

  /** Does some work again and again, killed as told, until it was not killed. */
  async work(
    deaths: readonly Death[],
    work: (log: DeltaLog) => Promise<unknown>,
    onKill: () => Promise<void> = async () => {},
  ): Promise<void> {
    for (const death of [...deaths, NEVER]) {
      Object.assign(this.#death, death);
      try {
        await work(this.#log);
        return;
      } catch (error) {
        if (!(error instanceof Killed)) throw error;
        this.#death = { ...NEVER };
        this.#log = this.#start();
        await onKill();
      }
    }
  }
}

const deaths = fc.array(
  fc.record({ operation: fc.integer({ min: 1, max: 12 }), done: fc.boolean() }),
  { maxLength: 3 },
);
const place = fc.record({
  stream: fc.constantFrom('events', 'smart-event'),
  day: fc.constantFrom(...FIRST_DAYS),
});
const step = fc.record({
  writer: fc.nat({ max: 2 }),
  deaths,
  does: fc.oneof(
    { weight: 6, arbitrary: fc.record({ add: fc.array(place, { minLength: 1, maxLength: 3 }) }) },
    {
      weight: 2,
      arbitrary: fc.record({ remove: fc.array(place, { minLength: 1, maxLength: 3 }) }),
    },
    { weight: 2, arbitrary: fc.record({ cleanAfterDays: fc.constantFrom(0, 3, 8, 31) }) },
    // So many that a checkpoint is due.
    { weight: 1, arbitrary: fc.record({ commits: fc.integer({ min: 30, max: 60 }) }) },
  ),
});

/** The log of several writers, in so many random histories. */
export function logOfSeveralWriters(runs: number): void {
  it('tells what was committed, wherever they are killed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
        const { time, clock, store } = stage();
        const writers = [0, 1, 2].map(() => new Writer(store, clock));
        const model = new Map<string, string>();
        let names = 0;
        for (const { writer: index, deaths: killed, does } of steps) {
          const writer = writers[index];
          if (writer === undefined) continue;
          const change: DayFile[] = [];
          if ('add' in does) {
            names += 1;
            for (const { stream, day } of does.add) change.push(fileOf(stream, day, `n${names}`));
          }
          if ('remove' in does)
            for (const partitionValues of does.remove) change.push({ partitionValues, path: null });
          if ('cleanAfterDays' in does) {
            time.now += does.cleanAfterDays * DAY_MS;
            await writer.work(killed, (log) => log.cleanUp(signal));
          } else if ('commits' in does) {
            for (let n = 0; n < does.commits; n++) {
              const file = fileOf('busy', FIRST_DAYS[0] ?? '', `b${++names}`);
              await putObject(store, file);
              await writer.work(n % 10 === 0 ? killed : [], (log) => log.commit(file, signal));
              model.set(`busy ${FIRST_DAYS[0]}`, file.path);
            }
          } else {
            for (const one of change) {
              const before = Object.fromEntries(model);
              if (one.path === null) model.delete(keyOf(one.partitionValues));
              else {
                await putObject(store, one);
                model.set(keyOf(one.partitionValues), one.path);
              }
              const after = Object.fromEntries(model);
              await writer.work(
                killed,
                (log) => log.commit(one, signal),
                async () => expect([before, after]).toContainEqual(await readDays(store, clock)),
              );
            }
          }
          expect(await readDays(store, clock)).toEqual(Object.fromEntries(model));
        }
      }),
      { numRuns: runs },
    );
  });

  it('tells of each day once, when they write at the same time', async () => {
    const plan = fc.array(fc.record({ shared: fc.boolean(), deaths }), { maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.tuple(plan, plan, plan), async (scheduler, plans) => {
        const { clock, store } = stage();
        const own = new Map<string, string>();
        const shared = new Set<string>();
        const turn = () => scheduler.schedule(Promise.resolve());
        const working = plans.map(async (steps, index) => {
          const writer = new Writer(store, clock, turn);
          for (const [number, { shared: isShared, deaths: killed }] of steps.entries()) {
            const file = fileOf(
              isShared ? 'shared' : `own-${index}`,
              '2026-01-01',
              `w${index}-${number}`,
            );
            await putObject(store, file);
            if (isShared) shared.add(file.path);
            else own.set(`own-${index} 2026-01-01`, file.path);
            await writer.work(killed, (log) => log.commit(file, signal));
          }
        });
        await scheduler.waitFor(Promise.all(working));
        const { 'shared 2026-01-01': together, ...days } = await readDays(store, clock);
        expect(days).toEqual(Object.fromEntries(own));
        if (shared.size > 0) expect([...shared]).toContain(together);
        else expect(together).toBeUndefined();
        const commits = [...store.objects.keys()].filter((key) => key.endsWith('.json'));
        expect(commits.sort().map((key) => Number(key.slice(-25, -5)))).toEqual(
          commits.map((_, version) => version),
        );
      }),
      { numRuns: 2 * runs },
    );
  });
}

/** What sixty days cost each, of two streams, in a table that holds so many days already. */
async function costOfDays(daysBefore: number) {
  const { time, clock, store } = stage();
  const log = new DeltaLog(store, clock, ANYBODY);
  const filesOf = (at: number, name: string) =>
    ['events', 'smart-event'].map((stream) => fileOf(stream, dayAt(at), name));
  const commit = async (files: readonly LiveFile[]) => {
    for (const file of files) {
      await putObject(store, file);
      await log.commit(file, signal);
    }
  };
  await commit(
    Array.from({ length: daysBefore }, (_, index) =>
      filesOf(START - index * DAY_MS, 'early'),
    ).flat(),
  );
  const logObjects = () => [...store.objects.keys()].filter((key) => key.includes('_delta_log'));
  const logBefore = logObjects().length;
  let fresh = 0;
  for (let day = 0; day < 120; day++) {
    // By then as much is cleaned up each day as comes.
    if (day === 60) store.spent();
    time.now += DAY_MS;
    for (const file of filesOf(time.now, 'first')) await commit([file]);
    if (day % 30 === 29) await commit(filesOf(time.now - 5 * DAY_MS, 'again'));
    await log.cleanUp(signal);
    if (day < 60 || day % 10 !== 0) continue;
    const { cost } = store;
    store.spent();
    await new DeltaLog(store, clock, ANYBODY).files(signal);
    fresh = Math.max(fresh, store.spent().requests);
    store.cost = cost;
  }
  const { requests, bytesRead, bytesWritten } = store.spent();
  const keys = [...store.objects.keys()];
  expect(Object.keys(await readDays(store, clock))).toHaveLength(2 * (daysBefore + 120));
  return {
    requests: requests / 60,
    bytesRead: bytesRead / 60,
    bytesWritten: bytesWritten / 60,
    /** Requests of one who reads the table and knows nothing. */
    fresh,
    /** That came in these days. */
    logObjects: logObjects().length - logBefore,
    dataObjects: keys.filter((key) => key.includes('/day=')).length,
  };
}

/** A day costs what the first ones did, in a table of two streams that holds so many days. */
export function costOfADay(days: number): void {
  it('cost each day what the first days did', async () => {
    const early = await costOfDays(1);
    const late = await costOfDays(days);
    expect(late.requests).toBe(early.requests);
    expect(late.requests).toBeLessThan(15);
    expect([late.bytesRead, early.bytesRead]).toEqual([0, 0]);
    // A checkpoint of more than a thousand files has a second row group.
    expect(late.fresh).toBeLessThanOrEqual(early.fresh + 1);
    expect(late.fresh).toBeLessThan(65);
    // What grows is the checkpoint, by about eighty bytes for each file; one is written every few weeks.
    expect(late.bytesWritten).toBeLessThan(early.bytesWritten + 50_000);
    expect(Math.abs(late.logObjects - early.logObjects)).toBeLessThanOrEqual(1);
    // Each commit, and a checkpoint now and then.
    expect(late.logObjects).toBeLessThan(2 * 120 + 5 + 30);
    // A file that left is removed after a week, and nothing else is.
    expect(late.dataObjects).toBe(2 * (days + 120) + 2);
  });
}
