/** Objects in memory that count what they are asked for, and a process that is killed between two operations. */

import { type ObjectBody, type ObjectStore, piecesOf } from '../../src/tier/object-store.ts';

/** What a store was asked for. */
export class Cost {
  requests = 0;
  bytesRead = 0;
  bytesWritten = 0;
}

/** A store in memory. */
export class MemoryStore implements ObjectStore {
  readonly name = 'memory';
  readonly objects = new Map<string, { readonly body: Buffer }>();
  cost = new Cost();

  /** What has been asked for since the last call. */
  spent(): Cost {
    const { cost } = this;
    this.cost = new Cost();
    return cost;
  }

  async create(key: string, body: ObjectBody): Promise<'created' | 'exists'> {
    const bytes = await bufferOf(body);
    const there = this.objects.get(key);
    if (there !== undefined) {
      this.cost.requests += 1;
      return there.body.equals(bytes) ? 'created' : 'exists';
    }
    await this.replace(key, bytes);
    return 'created';
  }

  async replace(key: string, body: Buffer): Promise<void> {
    this.cost.requests += 1;
    this.cost.bytesWritten += body.length;
    this.objects.set(key, { body: Buffer.from(body) });
  }

  async read(
    key: string,
    _: AbortSignal,
    range?: { readonly start: number; readonly end: number },
  ): Promise<Buffer | null> {
    const whole = this.objects.get(key)?.body;
    const body = range === undefined ? whole : whole?.subarray(range.start, range.end);
    this.cost.requests += 1;
    this.cost.bytesRead += body?.length ?? 0;
    return body === undefined ? null : Buffer.from(body);
  }

  async size(key: string): Promise<number | null> {
    this.cost.requests += 1;
    return this.objects.get(key)?.body.length ?? null;
  }

  async remove(key: string): Promise<void> {
    this.cost.requests += 1;
    this.objects.delete(key);
  }
}

async function bufferOf(body: ObjectBody): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of piecesOf(body)) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** A store that does some things in another way. */
export const changedStore = (store: ObjectStore, methods: Partial<ObjectStore>): ObjectStore => ({
  name: store.name,
  create: (...args) => store.create(...args),
  replace: (...args) => store.replace(...args),
  read: (...args) => store.read(...args),
  size: (...args) => store.size(...args),
  remove: (...args) => store.remove(...args),
  ...methods,
});

/** A process was killed. */
export class Killed extends Error {}

/** When a process is killed: at its so-manieth operation from now on, before it is done, or when the answer is on its way. */
export interface Death {
  operation: number;
  done: boolean;
  /** Only those count that change something: between two that look, all is as it was. */
  readonly atChanges?: boolean;
}

/**
 * A store as a process sees it that is killed between two operations.
 * @param turn waits until this process may go on; others go on meanwhile.
 */
export function mortal(
  store: ObjectStore,
  death: Death,
  turn: () => Promise<unknown> = async () => {},
): ObjectStore {
  const asked = async <T>(work: () => Promise<T>, changes = false): Promise<T> => {
    if (changes || !death.atChanges || death.operation <= 0) death.operation -= 1;
    if (death.operation < 0 || (death.operation === 0 && !death.done)) throw new Killed();
    await turn();
    const result = await work();
    if (death.operation <= 0) throw new Killed();
    return result;
  };
  return changedStore(store, {
    create: (...args) => asked(() => store.create(...args), true),
    replace: (...args) => asked(() => store.replace(...args), true),
    read: (...args) => asked(() => store.read(...args)),
    size: (...args) => asked(() => store.size(...args)),
    remove: (...args) => asked(() => store.remove(...args), true),
  });
}
