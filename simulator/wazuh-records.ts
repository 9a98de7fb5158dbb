/** Writes one seeded record as JSON text: an event of Wazuh's shape, or an alert that sums events up. */
import type { Dice } from './random.ts';
import {
  AGENTS,
  type Agent,
  ALERT_RULES,
  PEOPLE,
  type Rule,
  WEIGHTED_RULES,
} from './wazuh-catalogue.ts';

/** Writes the record number `serial` at `time`; the text depends on these and the dice alone. */
export type RecordWriter = (time: number, serial: number, dice: Dice) => string;

/** An event: what an agent saw, and the rule that it matched. */
export const writeEvent: RecordWriter = (time, serial, dice) => {
  const rule = dice.pick(WEIGHTED_RULES);
  const agent = dice.pick(AGENTS);
  const person = dice.pick(PEOPLE);
  const address = `203.0.113.${dice.below(256)}`;
  const port = 1024 + dice.below(60_000);
  const when = timestamp(time);
  const log = `${when} ${agent.name} sshd[${dice.below(32_768)}]: user ${person} from ${address} port ${port}\t"${rule.id}"`;
  // Numbers are written by hand: 64-bit integers and trailing zeros are what JSON.stringify cannot write.
  return (
    `{"timestamp":"${when}","id":${longInteger(serial, dice)},${ruleText(rule, dice)},` +
    `${agentText(agent)},"detection_type":"${rule.detectionType}","read":${dice.below(4) === 0},` +
    `"decoder":{"name":"${rule.groups[0]}"},"data":{"srcip":"${address}","srcport":"${port}",` +
    `"dstuser":${JSON.stringify(person)},"score":${dice.below(10)}.${dice.below(10)}0,` +
    `"bytes_sent":${longInteger(serial, dice)},"ratio":${1 + dice.below(9)}e-${1 + dice.below(5)}},` +
    `"location":"/var/log/auth.log","full_log":${JSON.stringify(log)}}`
  );
};

/** An alert of `smart-event`: several events that belong together. */
export const writeAlert: RecordWriter = (time, serial, dice) => {
  const rule = dice.pick(ALERT_RULES);
  const agent = dice.pick(AGENTS);
  const count = 2 + dice.below(40);
  const began = time - 1000 * (1 + dice.below(1800));
  const ids = Array.from({ length: 1 + dice.below(4) }, () => longInteger(serial, dice));
  return (
    `{"timestamp":"${timestamp(time)}","id":${longInteger(serial, dice)},` +
    `"title":${JSON.stringify(`${rule.description} on ${agent.name}`)},` +
    `"first_seen":"${timestamp(began)}","last_seen":"${timestamp(time)}","event_count":${count},` +
    `"risk_score":${dice.below(100)}.${dice.below(10)}0,"event_ids":[${ids.join(',')}],` +
    `${ruleText(rule, dice)},${agentText(agent)},"detection_type":"${rule.detectionType}",` +
    `"read":${dice.below(4) === 0},"status":"${dice.pick(['open', 'open', 'closed'])}"}`
  );
};

/** Wazuh's way: `2026-03-01T12:00:00.123+0000`. */
function timestamp(time: number): string {
  return new Date(time).toISOString().replace('Z', '+0000');
}

/**
 * A number between 2^53 and 2^63, as text; its last ten digits are the serial's, so that no two records share it.
 * Put together as text: BigInt would take as long as the rest of the record.
 */
function longInteger(serial: number, dice: Dice): string {
  const high = 900_720 + dice.below(922_337_203 - 900_720);
  return `${high}${String(serial % 1e10).padStart(10, '0')}`;
}

const ruleTexts = new Map<Rule, readonly [before: string, after: string]>();

function ruleText(rule: Rule, dice: Dice): string {
  let text = ruleTexts.get(rule);
  if (text === undefined) {
    const { id, level, description, groups, mitre } = rule;
    const before = JSON.stringify({ id, level, description, groups }).slice(0, -1);
    text = [
      `"rule":${before},"firedtimes":`,
      mitre === undefined ? '}' : `,"mitre":${JSON.stringify(mitre)}}`,
    ];
    ruleTexts.set(rule, text);
  }
  return `${text[0]}${1 + dice.below(500)}${text[1]}`;
}

const agentTexts = new Map<Agent, string>();

function agentText(agent: Agent): string {
  let text = agentTexts.get(agent);
  if (text === undefined) {
    const { id, name, ip, tags, manager, organization } = agent;
    text =
      `"agent":${JSON.stringify({ id, name, ip, tags, labels: { os: tags[0], zone: tags[1] } })},` +
      `"manager":${JSON.stringify(manager)},"organization":${JSON.stringify(organization)}`;
    agentTexts.set(agent, text);
  }
  return text;
}
