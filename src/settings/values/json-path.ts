/** Where something is in a page: keys with dots between them, as `data.items`. */
import { Wrong } from '../problems.ts';

/** Keys from the top of the body; `$` is the body itself, `\.` a dot in a key, and `$.` may stand in front. */
export function parseJsonPath(text: string): readonly string[] | Wrong {
  if (text === '$') return [];
  const body = text.startsWith('$.') ? text.slice(2) : text;
  const keys = [''];
  for (let i = 0; i < body.length; i++) {
    const c = body.charAt(i);
    if (c === '.') {
      keys.push('');
      continue;
    }
    if (c === '\\') i++;
    if (i === body.length) return new Wrong('ends in a backslash');
    keys[keys.length - 1] += body.charAt(i);
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
