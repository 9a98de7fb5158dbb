/** What each of the fourteen filters chooses. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';
import { ask, DAY } from './asking.ts';

const RECORDS = [
  '{"n":1,"timestamp":"2026-03-01T01:00:00.000+0000","id":9007199254740993,"score":1.10,"agent":{"id":"001","name":"web-01","ip":"10.0.0.1","tags":["linux","dmz"]},"manager":{"name":"m1","tags":["prod","eu"]},"rule":{"level":5,"mitre":{"id":["T1110"],"tactic":["Credential Access"],"technique":["Brute Force"]}},"organization":"Northwind","detection_type":"signature","read":false,"full_log":"Failed LOGIN for søren"}',
  '{"n":2,"timestamp":"2026-03-01T02:00:00.000+0000","id":9007199254740992,"score":1.1,"agent":{"id":"002","name":"ws-02","ip":"10.0.0.2","tags":["windows"]},"manager":{"name":"m2","tags":["lab"]},"rule":{"level":12,"mitre":{"id":["T1490"],"tactic":["Impact"],"technique":["Inhibit System Recovery"]}},"organization":"Contoso","detection_type":"behaviour","read":true,"full_log":"shadow copies deleted"}',
  '{"n":3,"timestamp":"2026-03-01T03:00:00.000+0000","items":[{"name":"a"},{"name":"b"}]}',
  '{"n":4,"timestamp":"2026-03-01T04:00:00.000+0000","deep":NaN}',
];

let simulator: Simulator;
beforeAll(async () => {
  const records = RECORDS.map((text, index) => ({ text, time: `2026-03-01T0${index + 1}:00:00Z` }));
  simulator = await startSimulator({ records, order: 'oldest', envelope: 'list' });
});
afterAll(() => simulator.close());

test.each([
  [{}, '1234'],
  [{ search: 'login FOR SØREN' }, '1'],
  [{ search: 'nan' }, '4'],
  [{ agent: '001' }, '1'],
  [{ agent: 'ws-02' }, '2'],
  [{ agent: '10.0.0.2' }, '2'],
  [{ agent: 'ws' }, ''],
  [{ rule_level: '5' }, '1'],
  [{ rule_level: '05' }, '1'],
  [{ filters: 'id:9007199254740993' }, '1'],
  [{ filters: 'score:1.10' }, '1'],
  [{ filters: 'items.name:b' }, '3'],
  [{ filters: 'agent.tags:dmz,read:false' }, '1'],
  [{ filters: 'agent.tags:dmz,read:true' }, ''],
  [{ manager: 'm2' }, '2'],
  [{ manager_tags: 'eu,lab' }, '12'],
  [{ rule_mitre_technique: 'T1110' }, '1'],
  [{ rule_mitre_technique: 'Inhibit System Recovery' }, '2'],
  [{ rule_mitre_tactic: 'Impact' }, '2'],
  [{ rule_level_from: '6' }, '2'],
  [{ rule_level_to: '11' }, '1'],
  [{ rule_level_from: '5', rule_level_to: '12' }, '12'],
  [{ organization: 'Contoso' }, '2'],
  [{ agent_tags: 'windows' }, '2'],
  [{ hideread: '1' }, '134'],
  [{ hideread: '' }, '1234'],
  [{ detection_type: 'signature' }, '1'],
  [{ detection_type: 'signature', agent: '002' }, ''],
])('%j chooses %s', async (filters, expected) => {
  const { text } = await ask(simulator, filters as Record<string, string>);
  const wanted = [...expected].map((n) => RECORDS[Number(n) - 1]);
  expect(text).toBe(`{"events":[${wanted.join(',')}],"total":${wanted.length}}`);
  expect(simulator.matching({ ...DAY, ...filters })).toEqual(wanted);
});

test('matching refuses what the API would refuse', () => {
  expect(() => simulator.matching({ ...DAY, rule_level: 'high' })).toThrow('rule_level');
  expect(() => simulator.matching({ ...DAY, to: 'today' })).toThrow('YYYY-MM-DD');
});
