/** A resolve hook: node-cron is quick-schedule.mjs, but for quick-schedule.mjs itself. */
export function resolve(specifier, context, next) {
  const stand = new URL('./quick-schedule.mjs', import.meta.url).href;
  if (specifier !== 'node-cron' || context.parentURL === stand) return next(specifier, context);
  return { url: stand, shortCircuit: true };
}
