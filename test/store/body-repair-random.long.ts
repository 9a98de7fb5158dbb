/** The same as `body-repair-random` on many pages. */
import { randomBodies } from './random-bodies.ts';

randomBodies(50);
