/** What `delta-kills` has no time for: many random histories, and ten years. */
import { describe } from 'vitest';
import { costOfADay, logOfSeveralWriters } from './many-writers.ts';

describe('the log of several writers', () => logOfSeveralWriters(200));

describe('ten years of two streams', () => costOfADay(3_650));
