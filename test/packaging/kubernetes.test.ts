/** The Kubernetes manifests: what their schemas say, verbs and settings that exist, secrets where the settings look for them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Deployment } from 'kubernetes-models/apps/v1';
import { CronJob } from 'kubernetes-models/batch/v1';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { Service } from 'kubernetes-models/v1';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readProgram } from '../../src/cli/program.ts';
import { ROWS } from '../../src/settings/table/table.ts';
import { parseCron } from '../../src/settings/values/time.ts';
import { ROOT } from '../docs/markdown.ts';

const manifest = (name: string) =>
  parse(readFileSync(join(ROOT, 'deploy/kubernetes', `${name}.yaml`), 'utf8'), {
    version: '1.1',
  });
const deployment = new Deployment(manifest('deployment'));
const cronJob = new CronJob(manifest('cronjob'));
const service = new Service(manifest('service'));
const policy = new NetworkPolicy(manifest('networkpolicy'));

const PODS = [
  ['deployment', deployment.spec?.template.spec, 'worker'],
  ['cronjob', cronJob.spec?.jobTemplate.spec?.template.spec, 'run'],
] as const;

test('fit the schemas of Kubernetes', () => {
  deployment.validate();
  cronJob.validate();
  service.validate();
  policy.validate();
  expect(() =>
    new Deployment({ ...manifest('deployment'), spec: {} } as never).validate(),
  ).toThrow();
});

test('the pods of the deployment are those that it selects, and the schedule is one', () => {
  const { spec } = deployment;
  expect(spec?.template.metadata?.labels).toEqual(spec?.selector.matchLabels);
  expect(parseCron(cronJob.spec?.schedule ?? '')).toBe(cronJob.spec?.schedule);
});

describe('the status page of the worker', () => {
  const container = deployment.spec?.template.spec?.containers[0];
  const envOf = (name: string) => container?.env?.find((one) => one.name === name)?.value;
  const port = container?.ports?.[0];

  test('listens where kubelet reaches it, under the name of the service', () => {
    expect(port?.name).toBe('status');
    expect(envOf('DAYWALK_STATUS_LISTEN')).toBe(`0.0.0.0:${port?.containerPort}`);
    expect(envOf('DAYWALK_STATUS_HOSTS')).toBe(service.metadata?.name);
    // Alerts on a refused key and a database that is away come from a worker that is not ready.
    expect(service.spec?.publishNotReadyAddresses).toBe(true);
  });

  test('is what probes ask, at paths that it has; a database that is away ends no pod', () => {
    const path = (probe: 'startupProbe' | 'livenessProbe' | 'readinessProbe') =>
      container?.[probe]?.httpGet;
    expect(path('startupProbe')).toEqual({ path: '/livez', port: 'status' });
    expect(path('livenessProbe')).toEqual({ path: '/livez', port: 'status' });
    expect(path('readinessProbe')).toEqual({ path: '/readyz', port: 'status' });
  });

  test('is what the service leads to and the policy lets in, and neither takes the pods of the CronJob for it', () => {
    const labels = deployment.spec?.template.metadata?.labels;
    const other = cronJob.spec?.jobTemplate.spec?.template.metadata?.labels;
    const takes = (selector: Readonly<Record<string, string>> = {}, of: typeof labels) =>
      Object.entries(selector).every(([key, value]) => of?.[key] === value);
    expect(takes(service.spec?.selector, labels)).toBe(true);
    expect(takes(service.spec?.selector, other)).toBe(false);
    expect(takes(deployment.spec?.selector.matchLabels, other)).toBe(false);
    expect(takes(policy.spec?.podSelector?.matchLabels, labels)).toBe(true);
    expect(service.spec?.ports).toMatchObject([{ port: 8642, targetPort: 'status' }]);
    expect(policy.spec?.ingress?.[0]?.ports).toEqual([
      { protocol: 'TCP', port: port?.containerPort },
    ]);
  });
});

describe.each(PODS)('%s', (_, pod, verb) => {
  const container = pod?.containers[0];

  test('calls a verb of the image, with settings that exist', () => {
    expect(container?.command).toEqual(['daywalk', verb]);
    const verbs = readProgram(new AbortController().signal, () => {}).commands;
    expect(verbs.map((command) => command.name())).toContain(verb);
    const known = new Set(ROWS.flatMap((row) => row.env));
    const names = container?.env?.map(({ name }) => name) ?? [];
    expect(names.filter((name) => !known.has(name))).toEqual([]);
    expect(names).toContain('DATABASE_URL_FILE');
  });

  test('finds every file that a setting names below a mount', () => {
    const mounts = container?.volumeMounts ?? [];
    for (const { value = '' } of (container?.env ?? []).filter(({ name }) =>
      /_(?:CONFIG|FILE)$/.test(name),
    )) {
      const mount = mounts.find(({ mountPath }) => value.startsWith(`${mountPath}/`));
      expect(mount, value).toMatchObject({ readOnly: true });
      expect(pod?.volumes?.map(({ name }) => name)).toContain(mount?.name);
    }
    const secret = pod?.volumes?.find(({ name }) => name === 'secrets')?.secret;
    expect(secret).toEqual({ secretName: 'daywalk', defaultMode: 0o440 });
  });

  test('runs as nobody in particular, and can change nothing', () => {
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000 },
    });
    expect(container?.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(JSON.stringify(pod)).not.toMatch(/password|secretKeyRef/i);
  });
});
