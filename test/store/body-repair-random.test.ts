/** What must hold for every page, tried on some random ones against a real Postgres. */
import { randomBodies } from './random-bodies.ts';

randomBodies(2);
