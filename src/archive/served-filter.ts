/** Filters of a request as one jsonpath predicate over the fields that the settings name for them; what has none is refused. */
import type { FilterName, Filters } from '../model.ts';
import { Refusal } from './refusal.ts';

type Path = readonly string[];
/** Fields of a record, by the parameter that asks for them; absent: no field is known for it. */
export type FieldMap = Readonly<Partial<Record<FilterName, readonly Path[]>>>;

/** A predicate over a record, and the values in it. */
export interface Predicate {
  readonly path: string;
  /** JSON. */
  readonly variables: string;
}

/** Elasticsearch wraps a record into an object that has it below this key. */
const INSIDE = '_source';
/** Both places in which a field may stand. */
export const placesOf = (path: Path): Path[] => [path, [INSIDE, ...path]];

const LEVELS: ReadonlySet<FilterName> = new Set(['rule_level', 'rule_level_from', 'rule_level_to']);
const TAGS: ReadonlySet<FilterName> = new Set(['manager_tags', 'agent_tags']);

/**
 * The predicate that all filters make together; null: none is set.
 * @throws {Refusal} for a filter that cannot be honoured: an answer without it would look right and be wrong.
 */
export function predicateOf(filters: Filters, fields: FieldMap): Predicate | null {
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

type Bind = (value: unknown) => string;

function partOf(name: FilterName, value: string, fields: FieldMap, bind: Bind): string {
  if (name === 'search') return searched(value);
  if (name === 'filters')
    throw new Refusal(400, 'filters: its language is the source’s own, and unknown here', {
      hint: 'Only a stream that was exported with exactly these filters can answer them.',
    });
  const from = name === 'rule_level_from' || name === 'rule_level_to' ? 'rule_level' : name;
  const paths = fields[from];
  if (paths === undefined)
    throw new Refusal(400, `${name}: no field of a record is known for it`, {
      hint: `Name it in daywalk.yaml, as archive.${from}, or leave the parameter empty.`,
    });
  const places = paths.flatMap(placesOf).map(spelled);
  const any = (test: string) =>
    `(${places.map((place) => `exists(${place} ? (${test}))`).join(' || ')})`;
  if (LEVELS.has(name)) {
    if (!/^\d{1,9}$/.test(value)) throw new Refusal(400, `${name}: a whole number is expected`);
    const compared = { rule_level: '==', rule_level_from: '>=', rule_level_to: '<=' }[
      name as 'rule_level'
    ];
    return any(`@.double() ${compared} ${bind(Number(value))}`);
  }
  if (name === 'hideread') {
    if (value !== '1') throw new Refusal(400, 'hideread: 0 or 1 is expected');
    return `!${any('@ == true || @ == "true" || @ == 1')}`;
  }
  const values = TAGS.has(name) ? value.split(',').map((tag) => tag.trim()) : [value];
  return any(values.map((one) => equals(one, bind)).join(' || '));
}

/** A number in a record and its text in a parameter are the same value. */
function equals(value: string, bind: Bind): string {
  const text = `@ == ${bind(value)}`;
  return isNumber(value) ? `${text} || @ == ${value}` : text;
}

/** The text occurs in some string of the record, upper and lower case alike, or is a number that stands in it. */
function searched(value: string): string {
  const number = isNumber(value) ? ` || @ == ${value}` : '';
  return `exists($.** ? (@ like_regex ${JSON.stringify(value)} flag "iq"${number}))`;
}

/** Written into the predicate as it came: as a number of JavaScript it would lose digits. */
const isNumber = (value: string): boolean => /^-?(0|[1-9]\d{0,30})(\.\d{1,30})?$/.test(value);

const spelled = (path: Path): string => `$${path.map((key) => `.${JSON.stringify(key)}`).join('')}`;
