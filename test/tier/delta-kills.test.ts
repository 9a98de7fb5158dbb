/** Several writers of the log, killed between any two operations: it tells of each day once, and years of days cost each what the first ones did. */
import { describe } from 'vitest';
import { costOfADay, logOfSeveralWriters } from './many-writers.ts';

describe('the log of several writers', () => logOfSeveralWriters(20));

// A checkpoint of more than a thousand files has two row groups.
describe('two years of two streams', () => costOfADay(600));
