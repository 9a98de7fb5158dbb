/** The fields of the served archive: one block of the file, or one line, with a default for each name. */
import { expect, test } from 'vitest';
import { loadSettings } from '../../src/settings/load.ts';
import { Wrong } from '../../src/settings/problems.ts';
import { formatFields, parseFields } from '../../src/settings/values/paths.ts';

const load = (yaml: string, environment: Record<string, string> = {}) =>
  loadSettings({
    flags: {},
    environment: { DAYWALK_CONFIG: 'daywalk.yaml', ...environment },
    cwd: '/',
    readFile: () => Buffer.from(yaml),
  }).archiveFields;

test('a block of the file, names that are not in it keep their defaults', () => {
  const fields = load(
    "archive:\n  fields:\n    time: '@timestamp'\n    agent: agent.name, host\\.name\n    organization: org\n",
  );
  expect(fields).toMatchObject({
    time: [['@timestamp']],
    agent: [['agent', 'name'], ['host.name']],
    organization: [['org']],
    rule_level: [['rule', 'level']],
  });
  expect(load('')).not.toHaveProperty('organization');
});

test('a line of the environment goes before the file', () => {
  const line = '{agent: host.name host.ip, hideread: read}';
  expect(
    load('archive:\n  fields:\n    agent: agent.name\n', { DAYWALK_ARCHIVE_FIELDS: line }),
  ).toMatchObject({
    agent: [
      ['host', 'name'],
      ['host', 'ip'],
    ],
    hideread: [['read']],
  });
  expect(formatFields(parseFields(line) as never)).toBe(line);
});

test.each([
  ['{agnet: a}', /agnet.*did you mean agent/],
  ['{search: a}', /search.*none of time, agent/],
  ['{agent: }', /agent: .*not keys with dots/],
  ['{agent: $}', /agent: "\$" is the whole record/],
  ['{agent: a..b}', /agent: .*a\.\.b/],
  ['agent', /"agent".*none of/],
])('%s is refused', (text, why) => {
  const found = parseFields(text);
  expect(found).toBeInstanceOf(Wrong);
  expect((found as Wrong).why).toMatch(why);
});

test('what is wrong in the block is told with its place', () => {
  expect(() => load('archive:\n  fields:\n    agnet: a\n')).toThrow(
    /daywalk\.yaml:3:\d+ \(archive\.fields\).*agnet|daywalk\.yaml:2:\d+ \(archive\.fields\).*agnet/,
  );
});
