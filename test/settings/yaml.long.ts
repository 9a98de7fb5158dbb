/** What `yaml` has no time for: thousands of files made of anything. */
import { describe } from 'vitest';
import { anyFile } from './any-file.ts';

describe('any file', () => anyFile(2_000));
