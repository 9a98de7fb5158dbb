/** A proof in words: what shows that a window is whole, and by which rule. */
import type { Proof } from '../model.ts';

/** The proof and its evidence, in a sentence. */
export function describeProof({ kind, rule, why }: Proof): string {
  return `Proof by ${kind} (docs/completeness.md ${rule}): ${why}.`;
}
