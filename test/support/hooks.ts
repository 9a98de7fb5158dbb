/** Hooks of modules that many test files use. A worker imports a module once, and vitest forgets hooks with each file. */
const registered: (() => void)[] = [];

/** Calls vitest's `afterEach` and the like for this file and for every later one of its worker. */
export function inEveryFile(register: () => void): void {
  registered.push(register);
  register();
}

/** Before each file. */
export function registerHooks(): void {
  for (const register of registered) register();
}
