/** A mutant: one deliberate fault as a change of text, and the tests that ought to notice it. */

/** A place in a file that must be there exactly once. */
export interface Edit {
  readonly file: string;
  /** A pattern where the place holds what may well change, such as the numbers of parameters. */
  readonly find: string | RegExp;
  /** As `String.replace` takes it where `find` is a pattern; as it stands otherwise. */
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
  find: Edit['find'],
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
  const found =
    typeof find === 'string'
      ? text.split(find).length - 1
      : [...text.matchAll(new RegExp(find, 'g'))].length;
  if (found !== 1) throw new Error(`${file} has ${found} times what a mutant changes:\n${find}`);
  return typeof find === 'string' ? text.replace(find, () => replace) : text.replace(find, replace);
}
