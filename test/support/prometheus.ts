/** A real Prometheus that scrapes one worker as docs/monitoring.md says, and evaluates the alert rules. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { blocks, paper, ROOT } from '../docs/markdown.ts';
import { until } from './condition.ts';
import { startDaemon } from './daemon.ts';
import { freePort } from './ports.ts';

/** One series of an answer: its labels, and its newest value. */
export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: number;
}

/** A Prometheus that runs; it ends with the test. */
export interface Prometheus {
  /** What an expression is now. */
  query(expression: string): Promise<Sample[]>;
  /** Waits until exactly these alerts fire. */
  expectAlerts(...names: readonly string[]): Promise<void>;
  /** Takes the target out of the configuration. */
  forgetTarget(): Promise<void>;
}

/** The documented configuration, each second; Prometheus's own is a minute. */
function configuration(port: number | null): string {
  const [scrapes = ''] = blocks(paper('docs/monitoring.md'), 'yaml');
  const own = scrapes.replace("['127.0.0.1:8642']", port === null ? '[]' : `['127.0.0.1:${port}']`);
  expect(own).not.toBe(scrapes);
  return `global: { scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s }
rule_files: [daywalk.rules.yml]
${own}`;
}

/** The rules as they are, but that an alert fires as soon as its expression is true; ./daywalk.rules.test.yml waits. */
function rulesAtOnce(): string {
  const rules = readFileSync(join(ROOT, 'deploy/prometheus/daywalk.rules.yml'), 'utf8');
  const atOnce = rules.replace(/^ +for: \w+\n/gm, '');
  expect(atOnce).not.toBe(rules);
  return atOnce;
}

/** Starts one that scrapes the worker at this port. */
export async function startPrometheus(workerPort: number): Promise<Prometheus> {
  const port = await freePort();
  let place = '';
  const files = (folder: string) => {
    place = folder;
    return {
      'prometheus.yml': configuration(workerPort),
      'daywalk.rules.yml': rulesAtOnce(),
    };
  };
  await startDaemon('prometheus', port, files, (folder) => [
    `--config.file=${folder}/prometheus.yml`,
    `--storage.tsdb.path=${folder}/data`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--web.enable-lifecycle',
    '--log.level=warn',
  ]);
  const url = `http://127.0.0.1:${port}`;
  await until('Prometheus to be ready', async () => (await fetch(`${url}/-/ready`)).ok);
  const ask = async <T>(path: string): Promise<T> => {
    const answer = await fetch(`${url}/api/v1/${path}`);
    const { data, error } = (await answer.json()) as { data: T; error?: string };
    if (!answer.ok) throw new Error(`${path}: ${error}`);
    return data;
  };
  const firing = async () => {
    const { alerts } = await ask<{
      alerts: { labels: { alertname: string }; state: string }[];
    }>('alerts');
    return alerts.map(({ labels }) => labels.alertname).sort();
  };
  return {
    async query(expression) {
      const { result } = await ask<{
        result: { metric: Record<string, string>; value: [number, string] }[];
      }>(`query?query=${encodeURIComponent(expression)}`);
      return result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }));
    },
    async expectAlerts(...names) {
      const expected = [...names].sort();
      let found: string[] = [];
      const seen = async () => {
        found = await firing();
        return isDeepStrictEqual(found, expected);
      };
      await until('alerts', seen).catch(() => expect(found, 'alerts').toEqual(expected));
    },
    async forgetTarget() {
      writeFileSync(join(place, 'prometheus.yml'), configuration(null));
      const answer = await fetch(`${url}/-/reload`, { method: 'POST' });
      expect(answer.status, await answer.text()).toBe(200);
    },
  };
}
