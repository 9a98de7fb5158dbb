/** The settings of the served archive, as rows of the table. */
import { section } from './setting.ts';

const archive = section('Archive');
/** What no field of a record is known for is refused. */
const unset = 'requests with it are refused';
const field = (name: string, fields: string, description: string) =>
  archive(`archive.${name}`, { kind: 'fields' }, fields, description, { flag: null });
const unknownField = (name: string, description: string) =>
  archive(`archive.${name}`, { kind: 'fields' }, null, description, { flag: null, unset });

export const ARCHIVE = {
  archiveHost: archive(
    'archive.host',
    { kind: 'text' },
    '127.0.0.1',
    'Where `serve-archive` listens; the default is this machine only. It speaks plain HTTP: put TLS in front of it.',
  ),
  archivePort: archive(
    'archive.port',
    { kind: 'integer', min: 0, max: 65_535 },
    '8472',
    'On which port; 0 is any free one.',
  ),
  archivePrefix: archive(
    'archive.prefix',
    { kind: 'text' },
    null,
    'What stands before `/api/events` in the path, such as /tenant-7.',
    { unset: 'nothing' },
  ),
  archiveKey: archive(
    'archive.key',
    { kind: 'apiKey' },
    null,
    'The key that clients of the archive send as `X-API-Key`; in the environment or in a file, nowhere else.',
    { flag: null, inFile: false, secret: true },
  ),
  archiveKeyFile: archive(
    'archive.key_file',
    { kind: 'path' },
    null,
    'A file that holds the key of the archive and nothing else.',
    { flag: null, placeholder: '<file>' },
  ),
  archiveMaxLength: archive(
    'archive.max_length',
    { kind: 'integer', min: 1, max: 100_000 },
    '10000',
    'The largest `length` that is answered; a larger one is an error.',
  ),
  archiveTime: field(
    'time',
    'timestamp, @timestamp',
    'Where a record has its time, best first; looked at where less than a whole day is asked for.',
  ),
  archiveAgent: field(
    'agent',
    'agent.id, agent.name, agent.ip',
    'Fields that `agent` is compared with.',
  ),
  archiveAgentTags: unknownField('agent_tags', 'Fields that `agent_tags` is compared with.'),
  archiveManager: field('manager', 'manager.name', 'Fields that `manager` is compared with.'),
  archiveManagerTags: unknownField('manager_tags', 'Fields that `manager_tags` is compared with.'),
  archiveRuleLevel: field(
    'rule_level',
    'rule.level',
    'Fields that `rule_level`, `rule_level_from` and `rule_level_to` are compared with.',
  ),
  archiveRuleMitreTechnique: field(
    'rule_mitre_technique',
    'rule.mitre.id, rule.mitre.technique',
    'Fields that `rule_mitre_technique` is compared with.',
  ),
  archiveRuleMitreTactic: field(
    'rule_mitre_tactic',
    'rule.mitre.tactic',
    'Fields that `rule_mitre_tactic` is compared with.',
  ),
  archiveOrganization: unknownField('organization', 'Fields that `organization` is compared with.'),
  archiveDetectionType: unknownField(
    'detection_type',
    'Fields that `detection_type` is compared with.',
  ),
  archiveHideread: unknownField(
    'hideread',
    'Fields that are true in records that `hideread=1` leaves out.',
  ),
} as const;
