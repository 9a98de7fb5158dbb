/** A look at parsed JSON: objects, paths into them, and how to name what is there; pure. */

/** Keys from the top of a value to something in it; empty: the value itself. */
export type Path = readonly string[];
/** An object of a parsed body. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** A JSON object; a list and null are none. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * How far a path leads, and what is there. Follows own keys only: a field may be called `constructor`.
 * @returns the keys that were there, whether all were, and the value at the last of them.
 */
export function follow(document: unknown, path: Path) {
  let value = document;
  for (const [depth, key] of path.entries()) {
    if (!isObject(value) || !Object.hasOwn(value, key))
      return { reached: path.slice(0, depth), whole: false, value };
    value = value[key];
  }
  return { reached: path, whole: true, value };
}

/** The value at the end of a path; undefined where it does not lead that far. */
export function valueAt(document: unknown, path: Path): unknown {
  const { whole, value } = follow(document, path);
  return whole ? value : undefined;
}

/** Asks whether a name is one of these words, in any letter case. */
export function anyOf(...words: readonly string[]): (name: string | undefined) => boolean {
  const known = new Set(words.join(' ').split(' '));
  return (name) => name !== undefined && known.has(name.toLowerCase());
}

/** A path as the settings spell it. */
export function spell(path: Path): string {
  return path.length === 0 ? 'the body itself' : path.join('.');
}

/** Kind and size of a value, never its content. */
export function describe(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) {
    if (value.length === 0) return 'an empty list';
    const objects = value.filter(isObject).length;
    if (objects === value.length) return `a list of ${objects} objects`;
    return `a list of ${value.length}, of which ${objects} are objects`;
  }
  if (!isObject(value)) return `a ${typeof value}`;
  const names = Object.keys(value);
  if (names.length === 0) return 'an empty object';
  const shown = names
    .slice(0, 12)
    // A part of a name may be a part of a secret, which nothing would know any more.
    .map((name) => (name.length > 40 ? `a name of ${name.length} characters` : name));
  return `an object with ${shown.join(', ')}${names.length > shown.length ? ', …' : ''}`;
}
