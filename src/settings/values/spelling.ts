/** Spelling: which known word somebody most likely meant. */

/** Longer words are nobody's slip of the finger, and comparing them costs their length squared. */
const LONGEST = 64;

/** The candidate nearest to `word`, if it is near enough to be meant; case and `-`, `_`, `.` count for nothing. */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  if (word.length > LONGEST) return undefined;
  const plain = plainOf(word);
  let best: string | undefined;
  let least = Math.max(1, Math.floor(plain.length / 3)) + 1;
  for (const candidate of candidates) {
    const found = editDistance(plain, plainOf(candidate));
    if (found < least && found < plain.length) {
      best = candidate;
      least = found;
    }
  }
  return best;
}

/** `; did you mean x?`, or nothing. */
export function didYouMean(word: string, candidates: Iterable<string>): string {
  const found = nearest(word, candidates);
  return found === undefined ? '' : `; did you mean ${found}?`;
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
