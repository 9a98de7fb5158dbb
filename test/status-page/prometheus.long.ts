/** A real Prometheus that scrapes real workers: no alert while all is well, each alert for what it is there for, and no panel without data. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { until } from '../support/condition.ts';
import { dayAgo } from '../support/days.ts';
import { closeGate } from '../support/gate.ts';
import { layLine } from '../support/line.ts';
import { letTimePass } from '../support/pass-time.ts';
import { CLOSED_PORT, freePort } from '../support/ports.ts';
import { API_KEY, temporaryFolder } from '../support/program.ts';
import { type Prometheus, startPrometheus } from '../support/prometheus.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { testWith } from '../support/tool.ts';

testWith(
  ['prometheus'],
  'alerts and panels of really scraped workers: two stories side by side, as each waits for scrapes',
  async () => {
    await Promise.all([fromRefusedToAway(), badDays()]);
  },
);

/** Ticks half an hour away, so that none comes in the middle; hourly, so that days are expected. */
const settings = (port: number) => ({
  DAYWALK_STREAMS: 'events',
  DAYWALK_SINCE: dayAgo(4),
  DAYWALK_SETTLE: '0s',
  DAYWALK_SCHEDULE: `${(new Date().getUTCMinutes() + 30) % 60} * * * *`,
  DAYWALK_STATUS_LISTEN: `127.0.0.1:${port}`,
});

/** The key is refused and all days are late; then all is well; then the database goes. */
async function fromRefusedToAway(): Promise<void> {
  const gate = closeGate();
  const scene = await setScene({
    key: 'the-other-key-5150',
    respond: () => gate.passed.then(() => undefined),
  });
  const line = await layLine(Number(new URL(scene.database.url).port || 5432));
  onTestFinished(() => line.close());
  const port = await freePort();
  const file = join(temporaryFolder(), 'key');
  writeFileSync(file, `${API_KEY}\n`);
  const prometheus = await startPrometheus(port);
  const worker = scene.start(['worker'], {
    ...settings(port),
    // One request is refused, and not four.
    DAYWALK_CONCURRENCY: '1',
    DAYWALK_API_KEY: undefined,
    DAYWALK_API_KEY_FILE: file,
    DATABASE_URL: line.over(scene.database.url),
  });
  // Nothing has come of any request yet, and each series is there.
  await until('the first scrape', async () => (await prometheus.query('daywalk_pages_total'))[0]);
  gate.open();
  const late = ['DaywalkKeyRefused', 'DaywalkLate', 'DaywalkOverdueDays'];
  await prometheus.expectAlerts(...late, 'DaywalkRefusedRequests');
  await scene.database.query('delete from daywalk.runs');
  await prometheus.expectAlerts(...late, 'DaywalkRefusedRequests', 'DaywalkNeverRan');

  writeFileSync(file, 'the-other-key-5150\n');
  await worker.saying(/waiting for the next tick/);
  await prometheus.expectAlerts();
  await expectFirstEvents(prometheus);
  await expectPanels(prometheus);

  line.leadTo(CLOSED_PORT);
  line.cut();
  await prometheus.expectAlerts('DaywalkDatabaseAway');
}

/** All is well; then a day loses its events, another one fails, no run ends for a day; the worker goes, and then the target. */
async function badDays(): Promise<void> {
  const scene = await setScene();
  const port = await freePort();
  const prometheus = await startPrometheus(port);
  const worker = scene.start(['worker'], settings(port));
  await worker.saying(/waiting for the next tick/);
  await until('a scrape', async () => (await prometheus.query('daywalk_closed_days'))[0]);
  await prometheus.expectAlerts();

  const lost = dayAgo(2);
  scene.api.remove(() => true, { from: `${lost} 00:00:00`, to: `${lost} 23:59:59` });
  for (let walk = 0; walk < 2; walk++) {
    await pass(scene, '2 hours');
    await backfill(scene, lost, '--only', 'all');
  }
  await prometheus.expectAlerts('DaywalkLostRecords');

  scene.api.set({ faults: [{ kind: 'status', status: 400 }] });
  await backfill(scene, dayAgo(5));
  await prometheus.expectAlerts('DaywalkLostRecords', 'DaywalkFailedDays');
  await pass(scene, '27 hours');
  await prometheus.expectAlerts('DaywalkLostRecords', 'DaywalkFailedDays', 'DaywalkNotRunning');

  worker.kill('SIGTERM');
  await worker.ended;
  await prometheus.expectAlerts('DaywalkDown');
  await prometheus.forgetTarget();
  await prometheus.expectAlerts('DaywalkGone');
}

const pass = ({ database }: Scene, interval: string) => letTimePass(database, interval);

/** Walks a day, which is not complete afterwards. */
async function backfill(scene: Scene, day: string, ...more: string[]): Promise<void> {
  const args = ['backfill', '--from', day, '--to', day, ...more];
  await scene.run(args, { DAYWALK_STREAMS: 'events', DAYWALK_SETTLE: '0s' });
}

/** `increase` sees what happened first, as the series were there before. */
async function expectFirstEvents(prometheus: Prometheus): Promise<void> {
  for (const series of [
    'daywalk_requests_total{code="401"}',
    'daywalk_requests_total{code="200"}',
    'daywalk_runs_total{outcome="refused"}',
    'daywalk_runs_total{outcome="done"}',
    'daywalk_windows_total{outcome="complete"}',
    'daywalk_pages_total{stream="events"}',
    'daywalk_records_total{stream="events"}',
    'daywalk_received_bytes_total{stream="events"}',
    'daywalk_request_duration_seconds_count',
  ]) {
    // What ended the run may be in the next scrape only.
    await until(`${series} to have grown`, async () => {
      const [grown] = await prometheus.query(`increase(${series}[10m])`);
      return (grown?.value ?? 0) > 0;
    });
  }
}

/** Every query of the dashboard, with all that its variables offer. */
async function expectPanels(prometheus: Prometheus): Promise<void> {
  const { panels, templating } = JSON.parse(readFileSync('deploy/grafana/daywalk.json', 'utf8'));
  const variables: Record<string, string> = { __rate_interval: '10m' };
  for (const { name, definition } of templating.list) {
    const [, series = '', label = ''] = /^label_values\((\w+), (\w+)\)$/.exec(definition) ?? [];
    if (label === '') continue;
    const values = (await prometheus.query(series)).map(({ metric }) => metric[label]);
    expect(values, definition).not.toEqual([]);
    variables[name] = `(${values.join('|')})`;
  }
  expect(Object.keys(variables)).toEqual(['__rate_interval', 'job', 'stream']);
  const queries: string[] = panels.flatMap(({ targets = [] }) =>
    targets.map(({ expr }: { expr: string }) =>
      expr.replace(/\$(\w+)/g, (_, name) => variables[name] ?? expect.fail(`$${name}`)),
    ),
  );
  expect(queries.length).toBeGreaterThan(15);
  // A rate wants several scrapes.
  for (const query of queries)
    await until(`samples of ${query}`, async () => {
      const samples = await prometheus.query(query);
      return samples.length > 0 && samples.every(({ value }) => !Number.isNaN(value));
    });
}
