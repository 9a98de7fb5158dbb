/** The settings of the rooms: the served archive, the tier, the status page, the alerts; a part of the table in table.ts. */
import { AGE, choice, DAY, duration, integer } from './kinds.ts';
import { secretKey, secretWithFile, section } from './setting.ts';

const archive = section('Archive');
const tier = section('Tier', { flag: null });
const statusPage = section('Status page');
const alerts = section('Alerts');

/** The rows, by their keys. */
export const ROOMS = {
  archiveListen: archive('archive.listen', { kind: 'listen' }, '127.0.0.1:8472', {
    description:
      'Where `serve-archive` listens, as `address:port`; the default is this machine only. It speaks plain HTTP: put TLS in front of it.',
  }),
  ...secretKey(archive, 'archiveKey', 'archive.key', 'the key that clients send as `X-API-Key`'),
  archiveFields: archive(
    'archive.fields',
    { kind: 'fields' },
    '{time: timestamp @timestamp, agent: agent.id agent.name agent.ip, manager: manager.name, rule_level: rule.level, rule_mitre_technique: rule.mitre.id rule.mitre.technique, rule_mitre_tactic: rule.mitre.tactic}',
    {
      description:
        'Where records have their time, and what each parameter is compared with; a name that is not given keeps its default, one without a field is refused.',
      flag: null,
    },
  ),

  tierUrl: tier('tier.url', { kind: 'place' }, null, {
    description: 'Where old days move to: a folder, or a bucket as `s3://bucket/prefix`.',
    unset: 'no day moves',
  }),
  tierEndpoint: tier('tier.endpoint', { kind: 'url' }, null, {
    description: 'Base URL of the server of the bucket, such as `https://minio.example:9000`.',
    unset: 'that of AWS in `tier.region`',
  }),
  tierRegion: tier('tier.region', { kind: 'text' }, 'us-east-1', {
    description: 'Region of the bucket; servers of your own mostly take any.',
  }),
  tierPathStyle: tier('tier.path_style', { kind: 'boolean' }, 'no', {
    description:
      'Name the bucket in the path of the URL and not in the name of the host; MinIO and Ceph want it mostly.',
  }),
  tierAllowHttp: tier('tier.allow_http', { kind: 'boolean' }, 'no', {
    description:
      'Send events over plain HTTP to another machine too; loopback needs no permission.',
  }),
  tierCaFile: tier('tier.ca_file', { kind: 'path' }, null, {
    description:
      'PEM file of the certificate authorities that may sign the certificate of the server.',
    unset: 'those of Node.js',
  }),
  ...secretKey(tier, 'tierKey', 'tier.key', 'the access key of the bucket'),
  ...secretKey(tier, 'tierSecret', 'tier.secret', 'the secret key of the bucket'),
  ...secretKey(tier, 'tierSessionToken', 'tier.session_token', 'the token of keys lent by AWS STS'),
  tierAfter: tier('tier.after', AGE, null, {
    description:
      'How long after it closed a day moves by itself, at the end of a run; such as 90d.',
    unset: 'only `daywalk tier` moves days',
  }),
  tierLockDays: tier('tier.lock_days', integer(1, 36_500), null, {
    description:
      'For so many days nobody may change or remove an object (S3 Object Lock, in compliance mode); the bucket must have been made for it.',
    unset: 'objects are not locked',
  }),

  statusListen: statusPage('status.listen', { kind: 'listen' }, '127.0.0.1:8642', {
    description:
      'Where the worker serves its status page, health and metrics, as `address:port`; `off`: nowhere; in a container `0.0.0.0:8642`.',
  }),
  statusHosts: statusPage('status.hosts', { kind: 'hosts' }, null, {
    description:
      "Host names under which the status page may be asked for, with commas between them; addresses, `localhost` and the machine's own name need no mention.",
    unset: 'no other names',
  }),

  lateAfter: alerts('late_after', duration(0, 30 * DAY), '6h', {
    description:
      'A day that is not proven so long after the first tick of the schedule that follows its close is overdue.',
  }),
  ...secretWithFile(alerts, 'pingUrl', 'ping.url', 'the ping URL', {
    kind: { kind: 'secretUrl', of: 'hook' },
    description: 'A check at healthchecks.io or alike, told when a run starts and how it ends.',
  }),
  ...secretWithFile(alerts, 'webhookUrl', 'webhook.url', 'the webhook URL', {
    kind: { kind: 'secretUrl', of: 'hook' },
    description:
      'Told when the export begins to fail, once a day while it fails, and when it has recovered.',
  }),
  webhookFormat: alerts('webhook.format', choice('json', 'slack', 'ntfy'), 'json', {
    description:
      'What the webhook gets: a JSON document, a message for Slack, Mattermost and alike, or one for an ntfy topic.',
  }),
  webhookDayProven: alerts('webhook.day_proven', { kind: 'boolean' }, 'no', {
    description:
      'Whether the webhook is also told, after each run, which days became complete in it.',
  }),
} as const;
