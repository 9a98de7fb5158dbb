/** Every deliberate fault, with the tests that ought to notice it. */
import { FENCE_MUTANTS } from './list-fences.ts';
import { LATER_MUTANTS } from './list-later.ts';
import { MOVED_MUTANTS } from './list-moved.ts';
import { PROOF_MUTANTS } from './list-proofs.ts';
import { SHOWN_MUTANTS } from './list-shown.ts';
import { SOURCE_MUTANTS } from './list-source.ts';
import type { Mutant } from './mutant.ts';

export const MUTANTS: readonly Mutant[] = [
  ...FENCE_MUTANTS,
  ...PROOF_MUTANTS,
  ...LATER_MUTANTS,
  ...SHOWN_MUTANTS,
  ...MOVED_MUTANTS,
  ...SOURCE_MUTANTS,
];
