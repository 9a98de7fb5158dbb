/** Filters of a request as one jsonpath predicate over the fields that the settings name for them; what has none is refused. */
import type { FilterName, Filters } from '../model.ts';
import type { Path } from '../source/json.ts';
import { Refusal } from './query.ts';

/** Fields of a record, by the parameter that asks for them, and by `time`; absent: no field is known for it. */
export type FieldPaths = Readonly<Record<string, readonly Path[]>>;

/** Both places in which a field may stand: Elasticsearch wraps a record into an object. */
export const placesOf = (paths: readonly Path[] = []): Path[] =>
  paths.flatMap((path) => [path, ['_source', ...path]]);

/**
 * The predicate that all filters make together; null: none is set. Of a record that has a field, but not as something
 * that can be compared, it is neither true nor false but unknown: to leave that record out would look right and be wrong.
 * @throws {Refusal} for a filter that cannot be honoured.
 */
export function predicateOf(filters: Filters, fields: FieldPaths) {
  const variables: Record<string, unknown> = {};
  const bind = (value: unknown): string => {
    const name = `v${Object.keys(variables).length}`;
    variables[name] = value;
    return `$${name}`;
  };
  const parts = (Object.entries(filters) as [FilterName, string][]).map(([name, value]) =>
    partOf(name, value, fields, bind),
  );
  if (parts.length === 0) return null;
  return { path: parts.join(' && '), variables: JSON.stringify(variables) };
}

/** True for a record that has a field which the filter `name` is compared with. */
export const presenceOf = (name: FilterName, fields: FieldPaths) => ({
  path: some(pathsOf(name, fields), '@ != null'),
  variables: '{}',
});

/** Where the filter `name` looks. @throws {Refusal} where no field is known for it. */
export function pathsOf(name: FilterName, fields: FieldPaths): readonly Path[] {
  const key = name.startsWith('rule_level') ? 'rule_level' : name;
  const paths = placesOf(fields[key]);
  if (paths.length > 0) return paths;
  const hint = `Name it in daywalk.yaml, as archive.fields.${key}, or leave the parameter empty.`;
  throw new Refusal(400, `${name}: no field of a record is known for it`, hint);
}

const some = (paths: readonly Path[], test: string): string =>
  `(${paths.map((path) => `exists(${spelled(path)} ? (${test}))`).join(' || ')})`;
const spelled = (path: Path): string => `$${path.map((key) => `.${JSON.stringify(key)}`).join('')}`;

type Bind = (value: unknown) => string;

function partOf(name: FilterName, value: string, fields: FieldPaths, bind: Bind): string {
  if (name === 'search') return searched(value);
  if (name === 'filters') {
    const hint = 'Only a stream that was exported with exactly these filters can answer them.';
    throw new Refusal(400, 'filters: its language is the source’s own, and unknown here', hint);
  }
  const paths = pathsOf(name, fields);
  // `other` is what cannot be compared. It is of another type than `unlike`, so that `==` between them is unknown.
  const decided = (test: string, other: string, unlike: string) => {
    const others = paths.map((path) => `${spelled(path)} ? (${other}) == ${unlike}`);
    return `(${[some(paths, test), ...others].join(' || ')})`;
  };
  if (name.startsWith('rule_level')) {
    if (!/^\d{1,9}$/.test(value)) throw new Refusal(400, `${name}: a whole number is expected`);
    const compared = name.endsWith('from') ? '>=' : name.endsWith('to') ? '<=' : '==';
    const other = '@ != null && (@.double() > 0) is unknown';
    return decided(`@.double() ${compared} ${bind(Number(value))}`, other, '0');
  }
  if (name === 'hideread') {
    if (value !== '1') throw new Refusal(400, 'hideread: 0 or 1 is expected');
    const yes = '@ == true || @ == "true" || @ == 1 || @ == "1"';
    const no = '@ == null || @ == false || @ == "false" || @ == 0 || @ == "0" || @ == ""';
    return `!${decided(yes, `(${yes} || ${no}) is unknown`, 'true')}`;
  }
  const values = name.endsWith('_tags') ? value.split(',').map((tag) => tag.trim()) : [value];
  const test = values.map((one) => equals(one, bind)).join(' || ');
  return decided(test, '@.type() == "object" || @.type() == "array"', '0');
}

/** A number or a truth in a record and its text in a parameter are the same value. */
function equals(value: string, bind: Bind): string {
  const text = `@ == ${bind(value)}`;
  return isNumber(value) || /^(true|false)$/.test(value) ? `${text} || @ == ${value}` : text;
}

/** The text occurs in some string of the record, upper and lower case alike, or is a number that stands in it. */
function searched(value: string): string {
  const number = isNumber(value) ? ` || @ == ${value}` : '';
  return `exists($.** ? (@ like_regex ${JSON.stringify(value)} flag "iq"${number}))`;
}

/** Written into the predicate as it came: as a number of JavaScript it would lose digits. */
const isNumber = (value: string): boolean => /^-?(0|[1-9]\d{0,30})(\.\d{1,30})?$/.test(value);
