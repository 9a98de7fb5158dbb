/** Where something is in a page or a record: keys with dots between them, as `data.items`, and several of them by name. */

import { FILTER_NAMES } from '../../model.ts';
import { shown, Wrong } from '../problems.ts';
import { didYouMean } from './spelling.ts';

/** Keys from the top of the body; `$` is the body itself, `\.` a dot in a key, and `$.` may stand in front. */
export function parseJsonPath(text: string): readonly string[] | Wrong {
  if (text === '$') return [];
  const keys = [''];
  for (const [character, escaped] of text.replace(/^\$\./, '').matchAll(/\\(.?)|./gs)) {
    if (escaped === '') return new Wrong('ends in a backslash');
    if (character === '.') keys.push('');
    else keys[keys.length - 1] += escaped ?? character;
  }
  if (keys.includes('')) return new Wrong('is not keys with dots between them, such as data.items');
  return keys;
}

/** As `parseJsonPath`; `none` is null, for a source without a total. */
export function parseTotalPath(text: string): readonly string[] | null | Wrong {
  if (text === 'none') return null;
  return text === '$' ? new Wrong('is the whole page, which is no total') : parseJsonPath(text);
}

/** `path` as `parseJsonPath` reads it back; null is `none`. */
export function formatJsonPath(path: readonly string[] | null): string {
  if (path === null) return 'none';
  if (path.length === 0) return '$';
  const text = path.map((key) => key.replaceAll(/[\\.]/g, '\\$&')).join('.');
  // A first key that is called `$` or `none` must not be read as those words.
  return text === 'none' || text === '$' || text.startsWith('$.') ? `$.${text}` : text;
}

/** As `parseJsonPath`, of a field of a record. */
export function parseFieldPath(text: string): readonly string[] | Wrong {
  return text === '$' ? new Wrong('is the whole record, which is no field') : parseJsonPath(text);
}

/** Paths of keys, best first. */
export type FieldMap = Readonly<Record<string, readonly (readonly string[])[]>>;

/** `time`, and the parameters that are compared with fields. */
export const FIELD_NAMES: readonly string[] = [
  'time',
  ...FILTER_NAMES.filter((name) => !/^(search|filters|rule_level_.*)$/.test(name)),
];

/** Reads such a mapping. */
export function parseFields(text: string): FieldMap | Wrong {
  const found: Record<string, (readonly string[])[]> = {};
  for (const part of text.replace(/^\{(.*)\}$/, '$1').split(',')) {
    const [, name = '', words = ''] = /^\s*(\w+)\s*:(.*)$/.exec(part) ?? [];
    if (!FIELD_NAMES.includes(name))
      return new Wrong(
        `has ${shown(part.trim())}, which is none of ${FIELD_NAMES.join(', ')}${didYouMean(name, FIELD_NAMES)}`,
      );
    found[name] = [];
    for (const word of words.trim().split(/\s+/)) {
      const path = parseFieldPath(word);
      if (path instanceof Wrong) return new Wrong(`${name}: ${path.about(word)}`);
      found[name].push(path);
    }
  }
  return found;
}

/** As {@link parseFields} reads it back. */
export const formatFields = (fields: FieldMap): string =>
  `{${Object.entries(fields)
    .map(([name, paths]) => `${name}: ${paths.map(formatJsonPath).join(' ')}`)
    .join(', ')}}`;
