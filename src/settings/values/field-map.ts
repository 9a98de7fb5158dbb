/** Fields of records by name: `{agent: agent.name agent.id, rule_level: rule.level}`, in the file also a name a line. */
import { FILTER_NAMES } from '../../model.ts';
import { shown, Wrong } from '../problems.ts';
import { formatJsonPath, parseJsonPath } from './json-path.ts';
import { didYouMean } from './spelling.ts';

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
      const path = parseJsonPath(word);
      if (path instanceof Wrong) return new Wrong(`${name}: ${path.about(word)}`);
      if (path.length === 0) return new Wrong(`${name}: is the whole record, which is no field`);
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
