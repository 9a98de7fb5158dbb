/** The Kubernetes manifests: what their schemas say, verbs and settings that exist, secrets where the settings look for them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Deployment } from 'kubernetes-models/apps/v1';
import { CronJob } from 'kubernetes-models/batch/v1';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readProgram } from '../../src/cli/program.ts';
import { ROWS } from '../../src/settings/table/table.ts';
import { parseCron } from '../../src/settings/values/cron.ts';
import { ROOT } from '../docs/markdown.ts';

const manifest = (name: string) =>
  parse(readFileSync(join(ROOT, 'deploy/kubernetes', `${name}.yaml`), 'utf8'), {
    version: '1.1',
  });
const deployment = new Deployment(manifest('deployment'));
const cronJob = new CronJob(manifest('cronjob'));

const PODS = [
  ['deployment', deployment.spec?.template.spec, 'worker'],
  ['cronjob', cronJob.spec?.jobTemplate.spec?.template.spec, 'run'],
] as const;

test('fit the schemas of Kubernetes', () => {
  deployment.validate();
  cronJob.validate();
  expect(() =>
    new Deployment({ ...manifest('deployment'), spec: {} } as never).validate(),
  ).toThrow();
});

test('the pods of the deployment are those that it selects, and the schedule is one', () => {
  const { spec } = deployment;
  expect(spec?.template.metadata?.labels).toEqual(spec?.selector.matchLabels);
  expect(parseCron(cronJob.spec?.schedule ?? '')).toBe(cronJob.spec?.schedule);
});

describe.each(PODS)('%s', (_, pod, verb) => {
  const container = pod?.containers[0];

  test('calls a verb of the image, with settings that exist', () => {
    expect(container?.command).toEqual(['node', 'dist/main.js', verb]);
    const verbs = readProgram(new AbortController().signal, () => {}).commands;
    expect(verbs.map((command) => command.name())).toContain(verb);
    const known = new Set(ROWS.flatMap((row) => row.env));
    const names = container?.env?.map(({ name }) => name) ?? [];
    expect(names.filter((name) => !known.has(name))).toEqual([]);
    expect(names).toContain('DATABASE_URL_FILE');
  });

  test('finds every file that a setting names below a mount', () => {
    const mounts = container?.volumeMounts ?? [];
    for (const { value = '' } of container?.env ?? []) {
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
