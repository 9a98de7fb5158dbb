/** The settings of the status page, the health and the alerts: a part of the table in table.ts. */
import { DAY, duration } from './kinds.ts';
import { type Setting, secretWithFile, section } from './setting.ts';

const statusPage = section('Status page');
const alerts = section('Alerts');

/** The rows, by their keys. */
export const MONITORING = {
  statusListen: statusPage(
    'status.listen',
    { kind: 'listen' },
    '127.0.0.1:8642',
    'Where the worker serves its status page, health and metrics, as `address:port`; `off`: nowhere; in a container `0.0.0.0:8642`.',
    { placeholder: '<address:port|off>' },
  ),
  statusHosts: statusPage(
    'status.hosts',
    { kind: 'names' },
    null,
    "Host names under which the status page may be asked for, with commas between them; addresses, `localhost` and the machine's own name need no mention.",
    { placeholder: '<names>', unset: 'no other names' },
  ),

  lateAfter: alerts(
    'late_after',
    duration(0, 30 * DAY),
    '6h',
    'How long after the first tick that follows its close a day may take to be proven, before it counts as overdue.',
  ),
  ...secretWithFile(
    alerts,
    'pingUrl',
    'ping.url',
    { kind: 'url', of: 'hook' },
    'A check at healthchecks.io or alike, told when a run starts and how it ends.',
    'the ping URL',
  ),
  ...secretWithFile(
    alerts,
    'webhookUrl',
    'webhook.url',
    { kind: 'url', of: 'hook' },
    'Told when the export begins to fail, once a day while it fails, and when it has recovered.',
    'the webhook URL',
  ),
  webhookFormat: alerts(
    'webhook.format',
    { kind: 'choice', choices: ['json', 'slack', 'ntfy'] },
    'json',
    'What the webhook gets: a JSON document, a message for Slack, Mattermost and alike, or one for an ntfy topic.',
  ),
  webhookDayProven: alerts(
    'webhook.day_proven',
    { kind: 'boolean' },
    'no',
    'Whether the webhook is also told, after each run, which days became complete in it.',
  ),
} as const satisfies Readonly<Record<string, Setting>>;
