/** What each of the fourteen filter parameters means here. */
import { type Fields, fieldsOf, textsAt } from './fields.ts';
import { FILTERS, type Filter, type Filters } from './query.ts';

/** Whether a record passes one filter whose value is not empty. */
type Test = (value: string, text: string, fields: Fields) => boolean;

const TESTS: Record<Filter, Test> = {
  search: (value, text) => text.toLowerCase().includes(value.toLowerCase()),
  agent: oneOf('agent.id', 'agent.name', 'agent.ip'),
  rule_level: (value, _, fields) => level(fields) === Number(value),
  filters: (value, _, fields) =>
    value.split(',').every((pair) => {
      const colon = pair.indexOf(':');
      return textsAt(fields, pair.slice(0, colon)).includes(pair.slice(colon + 1));
    }),
  manager: oneOf('manager.name'),
  manager_tags: anyTag('manager.tags'),
  rule_mitre_technique: oneOf('rule.mitre.id', 'rule.mitre.technique'),
  rule_mitre_tactic: oneOf('rule.mitre.tactic'),
  rule_level_from: (value, _, fields) => level(fields) >= Number(value),
  rule_level_to: (value, _, fields) => level(fields) <= Number(value),
  organization: oneOf('organization', 'organization.name'),
  agent_tags: anyTag('agent.tags'),
  hideread: (value, _, fields) => value !== '1' || !textsAt(fields, 'read').includes('true'),
  detection_type: oneOf('detection_type'),
};

/** A test of record texts for these filters; undefined when they let every record pass. */
export function matcher(filters: Filters): ((text: string) => boolean) | undefined {
  const active = FILTERS.filter(
    (name) => (filters[name] ?? '') !== '' && !(name === 'hideread' && filters[name] === '0'),
  );
  if (active.length === 0) return undefined;
  const needsFields = active.some((name) => name !== 'search');
  return (text) => {
    const fields = (needsFields ? fieldsOf(text) : undefined) ?? {};
    return active.every((name) => TESTS[name](filters[name] ?? '', text, fields));
  };
}

/** Not a number where a record has no level, and then no comparison holds. */
function level(fields: Fields): number {
  return Number(textsAt(fields, 'rule.level')[0] ?? Number.NaN);
}

function oneOf(...paths: readonly string[]): Test {
  return (value, _, fields) => paths.some((path) => textsAt(fields, path).includes(value));
}

/** Several tags have commas between them; a record needs one of them. */
function anyTag(path: string): Test {
  return (value, _, fields) => {
    const tags = textsAt(fields, path);
    return value.split(',').some((tag) => tags.includes(tag));
  };
}
