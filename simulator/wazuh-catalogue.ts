/** The invented organisation that the seeded records are about: its rules, agents, managers and people. */

export interface Rule {
  readonly id: string;
  readonly level: number;
  readonly description: string;
  readonly groups: readonly string[];
  readonly mitre?: {
    readonly id: readonly string[];
    readonly tactic: readonly string[];
    readonly technique: readonly string[];
  };
  readonly detectionType: string;
  /** How often it fires, relative to the others. */
  readonly weight: number;
}

const RULES: readonly Rule[] = [
  rule('5501', 3, 'PAM: Login session opened.', ['pam', 'syslog'], 'signature', 30, [
    ['T1078'],
    ['Initial Access', 'Persistence'],
    ['Valid Accounts'],
  ]),
  rule(
    '60106',
    3,
    'Windows logon success.',
    ['windows', 'authentication_success'],
    'signature',
    25,
  ),
  rule(
    '5710',
    5,
    'sshd: Attempt to login using a non-existent user',
    ['sshd', 'invalid_login'],
    'signature',
    20,
    [
      ['T1110.001', 'T1021.004'],
      ['Credential Access', 'Lateral Movement'],
      ['Password Guessing', 'SSH'],
    ],
  ),
  rule('550', 7, 'Integrity checksum changed.', ['ossec', 'syscheck'], 'integrity', 12, [
    ['T1565.001'],
    ['Impact'],
    ['Stored Data Manipulation'],
  ]),
  rule(
    '23504',
    7,
    'CVE affects "openssl" – medium',
    ['vulnerability-detector'],
    'vulnerability',
    8,
  ),
  rule(
    '5712',
    10,
    'sshd: brute force trying to get access to the system',
    ['sshd'],
    'correlation',
    5,
    [['T1110'], ['Credential Access'], ['Brute Force']],
  ),
  rule(
    '92213',
    12,
    'Executable dropped in folder commonly used by malware',
    ['sysmon'],
    'behaviour',
    3,
    [['T1105'], ['Command and Control'], ['Ingress Tool Transfer']],
  ),
  rule('92652', 14, 'Pass the hash: NTLM logon from another host', ['windows'], 'correlation', 2, [
    ['T1550.002'],
    ['Defense Evasion', 'Lateral Movement'],
    ['Pass the Hash'],
  ]),
  rule(
    '100200',
    15,
    'Ransomware: shadow copies deleted',
    ['sysmon', 'ransomware'],
    'behaviour',
    1,
    [['T1490'], ['Impact'], ['Inhibit System Recovery']],
  ),
];

/** Each rule as often as its weight says, to pick from. */
export const WEIGHTED_RULES: readonly Rule[] = RULES.flatMap((one) => Array(one.weight).fill(one));

/** The rules that an alert of `smart-event` is made from. */
export const ALERT_RULES: readonly Rule[] = RULES.filter((one) => one.level >= 10);

export interface Agent {
  readonly id: string;
  readonly name: string;
  readonly ip: string;
  readonly tags: readonly string[];
  readonly organization: string;
  readonly manager: { readonly name: string; readonly tags: readonly string[] };
}

const MANAGERS = [
  { name: 'wazuh-manager-1', tags: ['prod', 'eu'] },
  { name: 'wazuh-manager-2', tags: ['prod', 'us'] },
  { name: 'wazuh-manager-lab', tags: ['lab'] },
];

const AGENT_NAMES = [
  ['web-01', 'linux', 'dmz', 'Northwind'],
  ['web-02', 'linux', 'dmz', 'Northwind'],
  ['db-01', 'linux', 'internal', 'Northwind'],
  ['dc-zürich', 'windows', 'internal', 'Müller & Söhne'],
  ['ws-0042', 'windows', 'office', 'Müller & Söhne'],
  ['ws-0043', 'windows', 'office', 'Müller & Söhne'],
  ['mail-01', 'linux', 'dmz', 'Contoso'],
  ['fw-edge', 'appliance', 'dmz', 'Contoso'],
  ['分析-01', 'linux', 'lab', '東京支社'],
] as const;

export const AGENTS: readonly Agent[] = AGENT_NAMES.map(
  ([name, os, zone, organization], index) => ({
    id: String(index + 1).padStart(3, '0'),
    name,
    ip: `10.${20 + (index % 3)}.0.${10 + index}`,
    tags: [os, zone],
    organization,
    manager: MANAGERS[index % MANAGERS.length] as (typeof MANAGERS)[number],
  }),
);

export const PEOPLE = [
  'root',
  'admin',
  'j.doe',
  'søren',
  'Łukasz',
  'o’brien',
  '李雷',
  'svc_backup',
];

function rule(
  id: string,
  level: number,
  description: string,
  groups: readonly string[],
  detectionType: string,
  weight: number,
  mitre?: readonly [readonly string[], readonly string[], readonly string[]],
): Rule {
  const plain = { id, level, description, groups, detectionType, weight };
  if (mitre === undefined) return plain;
  return { ...plain, mitre: { id: mitre[0], tactic: mitre[1], technique: mitre[2] } };
}
