/** In the place of node-cron: a tick every SOAK_TICK_MS, because a cron expression knows nothing shorter than a minute. */
export { parse, validate } from 'node-cron';

/** Ticks, whatever the expression says. */
export function schedule(_expression, tick) {
  const timer = setInterval(tick, Number(process.env.SOAK_TICK_MS));
  return { on: () => {}, destroy: async () => clearInterval(timer), getNextRun: () => null };
}
