/** The pod of deploy/kubernetes/deployment.yaml, as far as an engine can run one: user, read-only root, no capabilities, mounts, memory limit, probes. */
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Deployment } from 'kubernetes-models/apps/v1';
import { afterAll, beforeAll, expect, inject, test } from 'vitest';
import { parse } from 'yaml';
import { ROOT } from '../docs/markdown.ts';
import { dayAgo } from '../support/days.ts';
import { KEY, must, note, seconds, sh, until } from './checkout.ts';

const DAYS = 2;
const EVENTS = 100_000;
const NETWORK = 'daywalk-pod';

const manifest = parse(readFileSync(join(ROOT, 'deploy/kubernetes/deployment.yaml'), 'utf8'), {
  version: '1.1',
});
const pod = new Deployment(manifest).spec?.template.spec;
const worker = pod?.containers[0];
const mountOf = (name: string) =>
  worker?.volumeMounts?.find((mount) => mount.name === name)?.mountPath;

let folder: string;

beforeAll(() => {
  folder = join(inject('folder'), 'pod');
  mkdirSync(join(folder, 'settings'), { recursive: true });
  mkdirSync(join(folder, 'secrets'));
  must(
    ROOT,
    `docker network create ${NETWORK}; docker build --quiet --tag daywalk .
     docker run --detach --name pod-postgres --network ${NETWORK} --tmpfs /var/lib/postgresql --env POSTGRES_USER=daywalk --env POSTGRES_PASSWORD=pod postgres:18
     docker run --detach --name pod-simulator --network ${NETWORK} --no-healthcheck daywalk node dist/simulator/main.js --host 0.0.0.0 --key ${KEY} --events-per-day ${EVENTS}`,
  );
  // What kubelet makes of the ConfigMap and of the Secret with its defaultMode, in the pod's group.
  const files = {
    'settings/daywalk.yaml': `api: { url: http://pod-simulator:8765, allow_http: yes }\nsince: ${dayAgo(DAYS)}\n`,
    'secrets/api_key': KEY,
    'secrets/database_url': 'postgres://daywalk:pod@pod-postgres/daywalk?sslmode=disable',
  };
  const mode = pod?.volumes?.find(({ name }) => name === 'secrets')?.secret?.defaultMode ?? 0;
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(folder, name), text);
    chownSync(join(folder, name), 0, pod?.securityContext?.fsGroup ?? -1);
    chmodSync(join(folder, name), name.startsWith('secrets/') ? mode : 0o644);
  }
});

afterAll(() => {
  sh(
    ROOT,
    `docker rm --force --volumes pod-worker pod-simulator pod-postgres; docker network rm ${NETWORK}`,
  );
});

/** The settings of the pod, as the engine calls them. */
function engineArguments(): string {
  const { runAsUser, runAsGroup, fsGroup } = pod?.securityContext ?? {};
  const { readOnlyRootFilesystem, allowPrivilegeEscalation, capabilities } =
    worker?.securityContext ?? {};
  const memory = String(worker?.resources?.limits?.memory).replace(/Mi$/, 'm');
  return [
    `--user ${runAsUser}:${runAsGroup} --group-add ${fsGroup} --memory ${memory} --memory-swap ${memory}`,
    readOnlyRootFilesystem && '--read-only',
    allowPrivilegeEscalation === false && '--security-opt no-new-privileges',
    ...(capabilities?.drop ?? []).map((name) => `--cap-drop ${name}`),
    ...(worker?.env ?? []).map(({ name, value }) => `--env '${name}=${value}'`),
    `--volume ${folder}/settings:${mountOf('settings')}:ro --volume ${folder}/secrets:${mountOf('secrets')}:ro`,
  ]
    .filter((part) => part !== undefined && part !== false)
    .join(' ');
}

/** A number out of the pod's control group, of version 2 or 1. */
const figure = (script: string) => Number(must(ROOT, `docker exec pod-worker sh -c '${script}'`));
const peak = () =>
  figure(
    'cat /sys/fs/cgroup/memory.peak /sys/fs/cgroup/memory/memory.max_usage_in_bytes 2> /dev/null | head -n 1',
  );
const memory = () =>
  figure(
    'cat /sys/fs/cgroup/memory.current /sys/fs/cgroup/memory/memory.usage_in_bytes 2> /dev/null | head -n 1',
  );
const cpuMs = () =>
  figure(
    'if [ -f /sys/fs/cgroup/cpu.stat ]; then sed -n "s/usage_usec //p" /sys/fs/cgroup/cpu.stat; else echo $(($(cat /sys/fs/cgroup/cpuacct/cpuacct.usage) / 1000)); fi',
  ) / 1000;
const mebibytes = (bytes: number) => `${Math.round(bytes / 1_048_576)} MiB`;

test('the probes are answered from outside, and a first export stays below the limit', async () => {
  must(
    ROOT,
    `docker run --detach --name pod-worker --network ${NETWORK} --no-healthcheck ${engineArguments()} daywalk ${worker?.command?.join(' ')}`,
  );
  const address = must(
    ROOT,
    `docker inspect --format '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}' pod-worker`,
  );
  const ask = (probe: 'startupProbe' | 'livenessProbe' | 'readinessProbe') =>
    `curl --silent --fail --max-time 5 http://${address}:${worker?.ports?.[0]?.containerPort}${worker?.[probe]?.httpGet?.path}`;
  for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'] as const)
    await until(ROOT, ask(probe), 30_000);
  const took = await until(ROOT, 'docker exec pod-worker daywalk gaps', 600_000);
  const running = must(
    ROOT,
    `docker inspect --format '{{.State.OOMKilled}} {{.RestartCount}}' pod-worker`,
  );
  expect(running).toBe('false 0');
  const [most, spent] = [peak(), cpuMs()];
  const limit = Number(String(worker?.resources?.limits?.memory).replace(/Mi$/, '')) * 1_048_576;
  expect(most).toBeLessThan(limit);
  note(
    `the pod of deploy/kubernetes: ${DAYS} days of ${EVENTS.toLocaleString('en')} events`,
    `${seconds(took)}, ${seconds(spent)} of CPU, at most ${mebibytes(most)} of ${mebibytes(limit)} (with a \`daywalk gaps\` beside it)`,
  );
});

test('a pod that waits for its next tick', async () => {
  const [before, from] = [cpuMs(), performance.now()];
  // What kubelet asks in ten seconds, at most.
  await until(
    ROOT,
    'for n in 1 2 3 4 5 6 7 8 9 10; do curl --silent --fail --output /dev/null --max-time 5 "http://$(docker inspect --format "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}" pod-worker):8642/readyz"; sleep 1; done',
    60_000,
  );
  const share = (cpuMs() - before) / (performance.now() - from);
  note(
    'the same, waiting for its next tick',
    `${Math.round(share * 1000)}m of CPU with a probe a second, ${mebibytes(memory())}`,
  );
});

test('SIGTERM ends it within its grace period', () => {
  const began = performance.now();
  must(ROOT, 'docker stop --time 15 pod-worker');
  expect(performance.now() - began).toBeLessThan(1000 * (pod?.terminationGracePeriodSeconds ?? 0));
  expect(must(ROOT, `docker inspect --format '{{.State.ExitCode}}' pod-worker`)).toBe('143');
});
