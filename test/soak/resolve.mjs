/** A resolve hook: the worker gets quick-ticks.mjs for the ticks of its schedule. */
export function resolve(specifier, context, next) {
  const isWorker = /\/verbs\/worker\.js$/.test(context.parentURL ?? '');
  if (!isWorker || !specifier.endsWith('/days/ticks.js')) return next(specifier, context);
  return { url: new URL('./quick-ticks.mjs', import.meta.url).href, shortCircuit: true };
}
