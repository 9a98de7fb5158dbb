/** A resolve hook: node-cron is quick-schedule.mjs. */
export function resolve(specifier, context, next) {
  if (specifier !== 'node-cron') return next(specifier, context);
  return { url: new URL('./quick-schedule.mjs', import.meta.url).href, shortCircuit: true };
}
