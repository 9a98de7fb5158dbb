/** Metrics: names, counts and states, as Prometheus's own tool reads them; and the rules and the dashboard that use them. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { noActivity } from '../../src/status-page/activity.ts';
import { Metrics } from '../../src/status-page/metrics.ts';
import type { StateNow } from '../../src/status-page/state-gauges.ts';
import { createTestDatabase } from '../support/database.ts';
import { ask, fillCalendar, serveStatus } from '../support/status-scene.ts';
import { testWith, tool } from '../support/tool.ts';

const window = {
  windowId: 1,
  kind: 'day' as const,
  stream: 'events',
  day: '2026-03-01',
  from: '',
  to: '',
};
const nowhere: StateNow = {
  version: '1',
  timeZone: 'UTC',
  standing: null,
  doing: noActivity(),
};

it('counts what a run and its requests do', async () => {
  const metrics = new Metrics();
  for (let page = 0; page < 3; page++)
    metrics.onEvent({ kind: 'page', window, records: 40, bytes: 9_000, total: null });
  metrics.onEvent({ kind: 'unchanged', window });
  metrics.onEvent({ kind: 'failed', window, reason: 'why' });
  metrics.onRunEnd('gaps');
  metrics.watch.answered(200, 150);
  metrics.watch.answered(429, 5);
  metrics.watch.answered('none', 5);
  metrics.watch.retried(2_500);
  metrics.watch.refused(30_000);
  const { type, body } = await metrics.read(nowhere);
  expect(type).toMatch(/^text\/plain/);
  for (const line of [
    'daywalk_pages_total{stream="events"} 3',
    'daywalk_records_total{stream="events"} 120',
    'daywalk_received_bytes_total{stream="events"} 27000',
    'daywalk_windows_total{stream="events",outcome="unchanged"} 1',
    'daywalk_windows_total{stream="events",outcome="failed"} 1',
    'daywalk_runs_total{outcome="gaps"} 1',
    'daywalk_requests_total{code="200"} 1',
    'daywalk_requests_total{code="429"} 1',
    'daywalk_requests_total{code="none"} 1',
    'daywalk_request_duration_seconds_count 3',
    'daywalk_retries_total 1',
    'daywalk_retry_wait_seconds_total 2.5',
    'daywalk_rate_limit_waits_total 1',
    'daywalk_rate_limit_wait_seconds_total 30',
    'daywalk_database_up 0',
  ])
    expect(body.split('\n')).toContain(line);
});

it('has every series before anything happened, so that `increase` sees the first event of each', async () => {
  const server = await serveStatus((await createTestDatabase()).url, {
    streams: ['events', 'smart-event'],
  });
  const { body } = await ask(server.url, '/metrics');
  await server.close();
  const values = new Map(
    body
      .split('\n')
      .filter((line) => line.startsWith('daywalk_'))
      .map((line) => {
        const cut = line.lastIndexOf(' ');
        return [line.slice(0, cut), line.slice(cut + 1)] as const;
      }),
  );
  const expected = [
    ...['done', 'gaps', 'refused', 'unavailable', 'interrupted', 'settings', 'unexpected'].map(
      (outcome) => `daywalk_runs_total{outcome="${outcome}"}`,
    ),
    ...['200', '401', '429', '503', 'none'].map((code) => `daywalk_requests_total{code="${code}"}`),
    ...['events', 'smart-event'].flatMap((stream) => [
      ...['pages', 'records', 'received_bytes'].map(
        (name) => `daywalk_${name}_total{stream="${stream}"}`,
      ),
      ...['complete', 'unchanged', 'split', 'failed'].map(
        (outcome) => `daywalk_windows_total{stream="${stream}",outcome="${outcome}"}`,
      ),
      // The streams are not in the database yet.
      ...[
        'failed_days',
        'overdue_days',
        'missing_days',
        'complete_days',
        'gone_records',
        'gone_on_balance_records',
      ].map((name) => `daywalk_${name}{stream="${stream}"}`),
      ...['lost_records', 'stored_records', 'stored_pages', 'stored_bytes'].map(
        (name) => `daywalk_${name}{stream="${stream}"}`,
      ),
    ]),
    'daywalk_request_duration_seconds_count',
    'daywalk_key_refused_timestamp_seconds',
    'daywalk_pass_running',
    'daywalk_leases',
  ];
  expect(expected.map((series) => [series, values.get(series)])).toEqual(
    expected.map((series) => [series, '0']),
  );
  const counters = [...body.matchAll(/^# TYPE (daywalk_\w+) counter$/gm)].map(([, name]) => name);
  expect(counters.length).toBeGreaterThan(8);
  for (const name of counters)
    expect([...values.keys()].filter((series) => series.split('{')[0] === name)).not.toEqual([]);
});

/** A scrape of a database with a week, of which one day failed and one is missing. */
async function scrape(): Promise<string> {
  const database = await createTestDatabase();
  await fillCalendar(database, 'events', '2026-03-01', '2026-03-07');
  await database.query(
    `update daywalk.windows set state = 'failed' where day = '2026-03-03' and kind = 'day'`,
  );
  await database.query(
    `update daywalk.windows set state = 'pending' where day = '2026-03-07' and kind = 'day'`,
  );
  await database.query(
    `insert into daywalk.days (stream_id, day, records, gone, lost, pages, bytes, proof, revision)
     select stream_id, day::date, records, gone, gone, 1, 1, 'probe', 1
       from daywalk.streams cross join (values ('2026-03-01', 100, 25), ('2026-03-02', 100, 25), ('2026-03-04', 700, 9)) as d (day, records, gone)
     on conflict (stream_id, day) do update set records = excluded.records, gone = excluded.gone, lost = excluded.lost`,
  );
  await database.query(
    `insert into daywalk.runs (key, trigger, owner, outcome, finished_at) values (gen_random_uuid(), 'hand', 'x', 'done', '2026-03-08 00:00Z')`,
  );
  const server = await serveStatus(database.url);
  const { body } = await ask(server.url, '/metrics');
  await server.close();
  return body;
}

it('tells where the export stands', async () => {
  const lines = (await scrape()).split('\n');
  const value = (name: string) =>
    Number(
      lines
        .find((line) => line.startsWith(`${name}`) && !line.startsWith('#'))
        ?.split(' ')
        .at(-1),
    );
  expect(value('daywalk_last_complete_day_timestamp_seconds{stream="events"}')).toBe(
    Date.parse('2026-03-07T00:00Z') / 1000,
  );
  expect(value('daywalk_lag_seconds{stream="events"}')).toBeGreaterThan(86_400);
  expect(value('daywalk_fresh{stream="events"}')).toBe(0);
  expect(value('daywalk_complete_days{stream="events"}')).toBe(5);
  expect(value('daywalk_failed_days{stream="events"}')).toBe(1);
  expect(value('daywalk_missing_days{stream="events"}')).toBe(
    value('daywalk_closed_days{stream="events"}') - 6,
  );
  expect(value('daywalk_last_run_timestamp_seconds')).toBe(Date.parse('2026-03-08T00:00Z') / 1000);
  // Nine of 700 are no failure of the source.
  expect(value('daywalk_gone_records{stream="events"}')).toBe(59);
  expect(value('daywalk_gone_on_balance_records{stream="events"}')).toBe(59);
  expect(value('daywalk_lost_records{stream="events"}')).toBe(50);
  expect(value('daywalk_leases')).toBe(0);
  expect(lines.join('\n')).not.toMatch(/day="/);
});

it('has no metric that docs/monitoring.md does not tell of', async () => {
  const names = [...(await scrape()).matchAll(/^# TYPE (daywalk_\w+)/gm)].map(([, name]) => name);
  expect(names).toContain('daywalk_table_behind_days');
  const page = readFileSync('docs/monitoring.md', 'utf8');
  expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

testWith(['promtool'], 'promtool finds nothing wrong with the metrics', async () => {
  const { status, stdout, stderr } = spawnSync(tool('promtool'), ['check', 'metrics'], {
    input: await scrape(),
    encoding: 'utf8',
  });
  const found = `${stdout}${stderr}`.split('\n').filter(
    // Days are what is counted here, not a unit of time; the others are prom-client's own.
    (line) =>
      line !== '' &&
      !/ use base unit "seconds" instead of "days"$/.test(line) &&
      !line.startsWith('nodejs_'),
  );
  expect(found).toEqual([]);
  expect([0, 3]).toContain(status);
});

testWith(['promtool'], 'promtool accepts the alert rules, and they fire when they should', () => {
  const run = (...args: string[]) => execFileSync(tool('promtool'), args, { encoding: 'utf8' });
  expect(run('check', 'rules', 'deploy/prometheus/daywalk.rules.yml')).toContain(
    'SUCCESS: 12 rules found',
  );
  expect(run('test', 'rules', 'test/status-page/daywalk.rules.test.yml')).toContain('SUCCESS');
});

it('rules and dashboard speak of metrics that exist', async () => {
  const known = new Set([...(await scrape()).matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name));
  // Histograms have series of their own, and a series without any event yet has its TYPE all the same.
  known.add('daywalk_request_duration_seconds_bucket');
  for (const file of ['deploy/prometheus/daywalk.rules.yml', 'deploy/grafana/daywalk.json']) {
    const used = readFileSync(file, 'utf8').match(/\bdaywalk_[a-z_]+/g) ?? [];
    expect(used.length).toBeGreaterThan(5);
    expect(used.filter((name) => !known.has(name))).toEqual([]);
  }
});

it('the dashboard is one that Grafana takes: panels with places, queries, and one data source to choose', () => {
  const dashboard = JSON.parse(readFileSync('deploy/grafana/daywalk.json', 'utf8'));
  expect(dashboard).toMatchObject({ title: 'daywalk', uid: 'daywalk', schemaVersion: 39 });
  expect(dashboard.templating.list.map(({ type }: { type: string }) => type)).toContain(
    'datasource',
  );
  for (const panel of dashboard.panels) {
    expect(panel.gridPos.x + panel.gridPos.w).toBeLessThanOrEqual(24);
    if (panel.type === 'row') continue;
    expect(panel.datasource.uid).toMatch(/^\$\{datasource\}$/);
    for (const { expr } of panel.targets) expect(expr).toContain('daywalk_');
  }
  const ids = dashboard.panels.map(({ id }: { id: number }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});
