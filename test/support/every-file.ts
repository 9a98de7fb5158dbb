/** Runs before each test file. */
import { registerHooks } from './hooks.ts';

registerHooks();
