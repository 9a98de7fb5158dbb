/** In the place of src/days/ticks.ts: a tick every SOAK_TICK_MS, because a cron expression knows nothing shorter than a minute. */
export const firstTickAfter = (_expression, afterMs) => afterMs + Number(process.env.SOAK_TICK_MS);
export const lastTickUntil = (_expression, untilMs) => untilMs - Number(process.env.SOAK_TICK_MS);
