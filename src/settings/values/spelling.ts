/** Spelling: which known word somebody most likely meant. */

/** Longer words are nobody's slip of the finger, and comparing them costs their length squared. */
const LONGEST = 64;

/**
 * `; did you mean x?` of the candidate nearest to `word`, or nothing where none is near enough to be meant; case and `-`, `_`, `.`
 * count for nothing.
 * @param partOf what of a candidate is compared with the word; by default all of it.
 */
export function didYouMean(
  word: string,
  candidates: Iterable<string>,
  partOf = (candidate: string) => candidate,
): string {
  if (word.length > LONGEST) return '';
  const plain = plainOf(word);
  let best: string | undefined;
  let least = Math.max(1, Math.floor(plain.length / 3)) + 1;
  for (const candidate of candidates) {
    const found = editDistance(plain, plainOf(partOf(candidate)));
    if (found < least && found < plain.length) {
      best = candidate;
      least = found;
    }
  }
  return best === undefined ? '' : `; did you mean ${best}?`;
}

function plainOf(word: string): string {
  return word.toLowerCase().replaceAll(/[-_. ]/g, '');
}

/** Damerau-Levenshtein (optimal string alignment): insertions, deletions, substitutions and swaps of neighbours. */
export function editDistance(a: string, b: string): number {
  const rows: number[][] = [];
  const at = (i: number, j: number): number => rows[i]?.[j] ?? Number.POSITIVE_INFINITY;
  for (let i = 0; i <= a.length; i++) {
    rows.push([]);
    for (let j = 0; j <= b.length; j++) {
      const changed = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const isSwap = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? at(i - 2, j - 2) + 1 : changed;
      const least = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, changed, swapped);
      rows[i]?.push(i === 0 || j === 0 ? i + j : least);
    }
  }
  return at(a.length, b.length);
}
