/** A mutant: one deliberate fault as a change of text, and the tests that ought to notice it. */

/** A place in a file that must be there exactly once. */
export interface Edit {
  readonly file: string;
  readonly find: string;
  readonly replace: string;
}

export interface Mutant {
  /** What is wrong in it, as a sentence without a full stop. */
  readonly name: string;
  readonly edits: readonly Edit[];
  /** Test files that run; the first that fails has caught it. */
  readonly tests: readonly string[];
}

/** One edit of one file. */
export function mutant(
  name: string,
  file: string,
  find: string,
  replace: string,
  tests: readonly string[],
): Mutant {
  return { name, edits: [{ file, find, replace }], tests };
}

/**
 * The text with the edit made.
 * @throws where the place is not there exactly once: the code has changed, and so must the mutant.
 */
export function applied(text: string, { file, find, replace }: Edit): string {
  const found = text.split(find).length - 1;
  if (found !== 1) throw new Error(`${file} has ${found} times what a mutant changes:\n${find}`);
  return text.replace(find, () => replace);
}
