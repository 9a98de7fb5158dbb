/** Streams: definitions in the file, selection by name, paths. */
import { describe, expect, test } from 'vitest';
import { load, loadYaml, problemsOf } from './loading.ts';

describe('definitions', () => {
  test('without any there are the two of the API', () => {
    expect(load().streams).toEqual([
      { name: 'events', resource: 'events', filters: {} },
      { name: 'smart-event', resource: 'smart-event', filters: {} },
    ]);
  });
  test('a resource is named in small or large letters', () => {
    const { streams } = loadYaml('streams: { audit: { resource: Smart-Event } }');
    expect(streams).toEqual([{ name: 'audit', resource: 'smart-event', filters: {} }]);
  });
  test('values stay as they are written, in the order of the API, without what is sent anyway', () => {
    const { streams } = loadYaml(`
streams:
  audit:
    resource: events
    filters: { rule_level_to: 1.10, search: 9007199254740993, agent: "007", organization: true, hideread: 0, manager: "" }
  events:
`);
    expect(streams).toEqual([
      {
        name: 'audit',
        resource: 'events',
        filters: {
          search: '9007199254740993',
          agent: '007',
          organization: 'true',
          rule_level_to: '1.10',
        },
      },
      { name: 'events', resource: 'events', filters: {} },
    ]);
    expect(Object.keys(streams[0]?.filters ?? {})).toEqual([
      'search',
      'agent',
      'rule_level_to',
      'organization',
    ]);
  });
  test.each([
    ['audit: {}', 'daywalk.yaml:2:3 (streams.audit): has no resource'],
    [
      'audit: { resource: event }',
      '"event" is not one of events, smart-event; did you mean events?',
    ],
    ['audit: { resource: events, filtres: {} }', 'did you mean filters?'],
    ['audit: { resource: events, agent: x }', 'did you mean filters.agent?'],
    [
      'events: { filters: { rule_levl: 1 } }',
      '(streams.events.filters.rule_levl): the API has no such filter; did you mean rule_level?',
    ],
    ['events: { filters: { start: 1 } }', 'daywalk sets it for every page'],
    ['events: { filters: { fromDate: 2024-01-01 } }', 'daywalk sets it for every page'],
    ['events: { filters: { agent: [a, b] } }', 'is a list, not one value'],
    ['events: { filters: { hideread: true } }', 'is not a number'],
    ['events: { filters: { hideread: no } }', 'is not a number'],
    ['events: { filters: { hideread: Off } }', 'is not a number'],
    ['events: { id_path: $ }', 'is the whole record'],
    ['events: { filters: { agent: "\\uD800" } }', 'half a character'],
    ['events: { filters: { agent: "a\\0" } }', 'a character that Postgres cannot hold'],
    ['events: { time_format: "YYYY-MM-DD HH:MI" }', 'goes with time_path, which is not set'],
    ['events: { filters: 3 }', 'expected a mapping of filters'],
    ['events: 3', 'expected a mapping of resource'],
    ['Bad Name: { resource: events }', '(streams."Bad Name"): a name has small letters'],
    ['events: { total_path: }', 'write none if there is no total'],
    ['events: { records_path: a..b }', 'is not keys with dots'],
    ['events: { until: 2026-05-32 }', 'is not a day'],
    ['events: { retention: 12h }', 'is not an age from 1d to 36500d'],
    ['events: { retention: for ever }', 'is not an age'],
  ])('%s', (yaml, expected) => {
    const problems = problemsOf(() => loadYaml(`streams:\n  ${yaml}`));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(expected);
  });
  test('two whose views would have one name are refused', () => {
    const long = 'long-'.repeat(12);
    const define = (...names: string[]) =>
      problemsOf(() =>
        loadYaml(`streams:\n${names.map((name) => `  ${name}: { resource: events }\n`).join('')}`),
      );
    expect(define('dmz-web', 'dmz_web')).toEqual([
      'daywalk.yaml:3:3 (streams.dmz_web): its view in the database would be that of dmz-web, daywalk.stream_dmz_web; name it otherwise',
    ]);
    expect(define(`${long}a`, `${long}b`)).toMatchObject([
      expect.stringContaining('would be that of'),
    ]);
  });
  test.each(['streams: [events]', 'streams: events', 'streams: {}'])('%s', (yaml) => {
    expect(problemsOf(() => loadYaml(yaml))).toHaveLength(1);
  });
});

describe('selection', () => {
  test('names choose, in their order', () => {
    const { streams } = load({ environment: { DAYWALK_STREAMS: 'smart-event, events' } });
    expect(streams.map((stream) => stream.name)).toEqual(['smart-event', 'events']);
    expect(load({ flags: { streams: 'events,,events, ' } }).streams).toHaveLength(1);
    expect(problemsOf(() => load({ flags: { streams: ', ,' } }))).toEqual([
      'flag --streams: ", ," names nothing',
    ]);
  });
  test('definitions in the file replace the two of the API', () => {
    const problems = problemsOf(() =>
      loadYaml('streams: { audit: { resource: events } }', {
        flags: { streams: 'audt,,audit,audit' },
      }),
    );
    expect(problems).toEqual([
      'flag --streams: "audt" is not a stream that is defined (audit); did you mean audit?',
    ]);
  });
  test('the flag is told as it was spelled', () => {
    const flags = { stream: 'audt', streams: 'audt' };
    expect(problemsOf(() => load({ flags }))[0]).toMatch(/^flag --stream: "audt"/);
  });
});

describe('paths', () => {
  test('a stream without its own has those that hold for all', () => {
    const { streams } = loadYaml(
      `
records_path: data.items
total_path: none
streams:
  events: { records_path: $, total_path: $.none }
  smart-event:
`,
    );
    expect(streams).toMatchObject([
      { recordsPath: [], totalPath: ['none'] },
      { recordsPath: ['data', 'items'], totalPath: null },
    ]);
  });
  test('an unset path is absent', () => {
    expect(Object.keys(load().streams[0] ?? {})).toEqual(['name', 'resource', 'filters']);
  });
});

test('a stream without its own retention has that of all; unset is for ever', () => {
  const { streams } = loadYaml(
    'retention: 400d\nstreams:\n  events: { retention: 30d }\n  smart-event:\n',
  );
  const DAY_MS = 86_400_000;
  expect(streams.map(({ retention }) => retention)).toEqual([30 * DAY_MS, 400 * DAY_MS]);
  expect(load().streams.map(({ retention }) => retention)).toEqual([undefined, undefined]);
});
