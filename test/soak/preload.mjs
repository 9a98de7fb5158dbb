/** Loaded before the worker: its schedule ticks quickly, and it writes its live memory and timers into SOAK_GAUGE. */
import { writeFileSync } from 'node:fs';
import { register } from 'node:module';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

register('./resolve.mjs', import.meta.url);

const file = process.env.SOAK_GAUGE;
if (file) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  setInterval(() => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    const timers = process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    writeFileSync(file, JSON.stringify({ heap: heapUsed, external, timers }));
  }, 2_000).unref();
}
