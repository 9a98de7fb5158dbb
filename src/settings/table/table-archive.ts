/** The settings of the served archive: a part of the table in table.ts. */
import { secretWithFile, section } from './setting.ts';

const archive = section('Archive');

/** The rows, by their keys. */
export const ARCHIVE = {
  archiveListen: archive(
    'archive.listen',
    { kind: 'listen' },
    '127.0.0.1:8472',
    'Where `serve-archive` listens, as `address:port`; the default is this machine only. It speaks plain HTTP: put TLS in front of it.',
    { placeholder: '<address:port>' },
  ),
  ...secretWithFile(
    archive,
    'archiveKey',
    'archive.key',
    { kind: 'apiKey' },
    'The key that clients of the archive send as `X-API-Key`; in the environment or in a file, nowhere else.',
    'the key of the archive',
  ),
  archiveFields: archive(
    'archive.fields',
    { kind: 'fields' },
    '{time: timestamp @timestamp, agent: agent.id agent.name agent.ip, manager: manager.name, rule_level: rule.level, rule_mitre_technique: rule.mitre.id rule.mitre.technique, rule_mitre_tactic: rule.mitre.tactic}',
    'Where records have their time, and what each parameter is compared with; a name that is not given keeps its default, one without a field is refused.',
    { flag: null },
  ),
} as const;
