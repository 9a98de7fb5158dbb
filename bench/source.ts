/** Starts the page server's process and asks it what it has served. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Served, ServedSource } from './page-server.ts';

/** A page server in a process of its own. */
export interface Source {
  readonly url: string;
  served(): Promise<Served>;
  close(): Promise<void>;
}

const SERVE = fileURLToPath(new URL('./serve.js', import.meta.url));

/** Starts it; the signal ends it. */
export async function startSource(source: ServedSource, signal: AbortSignal): Promise<Source> {
  const child = fork(SERVE, [JSON.stringify(source)], { signal, execArgv: [] });
  child.on('error', () => {});
  const [{ url }] = (await once(child, 'message', { signal })) as [{ url: string }];
  return {
    url,
    async served() {
      child.send('served');
      const [{ served }] = (await once(child, 'message', { signal })) as [{ served: Served }];
      return served;
    },
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}

/** Works with a page server that ends with the work. */
export async function withSource<T>(
  source: ServedSource,
  signal: AbortSignal,
  work: (source: Source) => Promise<T>,
): Promise<T> {
  const started = await startSource(source, signal);
  try {
    return await work(started);
  } finally {
    await started.close().catch(() => {});
  }
}
