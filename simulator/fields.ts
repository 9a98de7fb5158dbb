/** A record's fields for filtering, with every number as the text that stands in the record. */

/** A parsed record; undefined for a text that is not a JSON object (it may be one on purpose). */
export type Fields = Readonly<Record<string, unknown>>;

const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/**
 * Parses a record for filtering only; what is sent is never made from this.
 * Numbers become strings, so that 9007199254740993 is not found as ...992, and `1.10` not as `1.1`.
 */
export function fieldsOf(text: string): Fields | undefined {
  try {
    const quoted = text.replace(STRING_OR_NUMBER, (token) =>
      token.startsWith('"') ? token : `"${token}"`,
    );
    const fields: unknown = JSON.parse(quoted);
    if (typeof fields !== 'object' || fields === null || Array.isArray(fields)) return undefined;
    return fields as Fields;
  } catch {
    return undefined;
  }
}

/** All scalars at a dotted path, as text; arrays on the way stand for each of their items. */
export function textsAt(fields: unknown, path: string): string[] {
  const found: string[] = [];
  collect(fields, path, found);
  return found;
}

function collect(value: unknown, path: string, found: string[]): void {
  if (Array.isArray(value)) {
    for (const item of value) collect(item, path, found);
  } else if (path === '') {
    if (value !== null && typeof value !== 'object' && value !== undefined)
      found.push(String(value));
  } else if (typeof value === 'object' && value !== null) {
    const object = value as Record<string, unknown>;
    // A key may itself hold dots, as flattened records have them.
    if (Object.hasOwn(object, path)) collect(object[path], '', found);
    const dot = path.indexOf('.');
    const key = path.slice(0, dot);
    if (dot > 0 && Object.hasOwn(object, key)) collect(object[key], path.slice(dot + 1), found);
  }
}
