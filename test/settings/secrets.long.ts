/** What `secrets` has no time for: thousands of keys and passwords. */
import { describe } from 'vitest';
import { noSecretIsPrinted } from './printed-secrets.ts';

describe('no secret is printed', () => noSecretIsPrinted(3_000));
