/** A stream whose filters changed never goes on under its old name (I9). */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { backfillHere } from '../support/backfill-here.ts';
import { until } from '../support/condition.ts';
import { temporaryFolder } from '../support/program.ts';
import { setScene } from '../support/scene.ts';

const yaml = (filter: string, name = 'severe') =>
  `streams:\n  ${name}:\n    resource: events\n    filters:\n      ${filter}\n`;

test('refused with exit code 2 and what to do; the checkpoint stays as it was', async () => {
  const scene = await setScene({ faults: [{ kind: 'stall', when: ({ number }) => number > 3 }] });
  const file = join(temporaryFolder(), 'daywalk.yaml');
  const backfill = ['backfill', '--from', '2026-03-01', '--to', '2026-03-01', '--config', file];
  await writeFile(file, yaml("rule_level_from: '2'"));
  const first = scene.start(backfill, { DAYWALK_CONCURRENCY: '1' });
  await until('three pages', async () => {
    const stored = await scene.database.query('select from daywalk.pages');
    return stored.length === 3;
  });
  first.kill('SIGTERM');
  await first.ended;
  const rows = async () => [
    await scene.database.query('select * from daywalk.streams'),
    await scene.database.query('select * from daywalk.windows'),
    await scene.database.query('select * from daywalk.walks'),
  ];
  const before = await rows();
  expect(before[2]).toMatchObject([{ pages: 3, outcome: null }]);

  scene.api.set({ faults: [] });
  await writeFile(file, yaml("rule_level_from: '3'"));
  const asked = scene.api.counts.requests;
  const others = ['run', 'verify'].map((verb) => [verb, '--config', file]);
  for (const verb of [backfill, [...backfill, '--dry-run'], ...others]) {
    const refused = await scene.here(verb);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(
      /stream severe asks for events, filters rule_level_from=3, .*rule_level_from=2/,
    );
    expect(refused.stderr).toMatch(/new name in daywalk\.yaml \(streams: severe-2/);
  }
  expect(scene.api.counts.requests).toBe(asked);
  expect(await rows()).toEqual(before);

  await writeFile(file, yaml("rule_level_from: '3'", 'severe-2'));
  const day = { from: '2026-03-01', to: '2026-03-01' };
  const environment = { DAYWALK_CONFIG: file };
  await backfillHere(scene, day, { environment });
  await writeFile(file, yaml("rule_level_from: '2'"));
  await backfillHere(scene, day, { environment });
  const window = { from: '2026-03-01 00:00:00', to: '2026-03-01 23:59:59' };
  const counted = await scene.database.query(
    'select stream, count(*)::int as records from daywalk.shown_records group by 1 order by 1',
  );
  expect(counted).toEqual([
    { stream: 'severe', records: scene.api.count({ ...window, rule_level_from: '2' }) },
    { stream: 'severe-2', records: scene.api.count({ ...window, rule_level_from: '3' }) },
  ]);

  // What is stored of the other one is searched and verified, though the settings define it no more.
  const [seen] = await scene.database.query<{ id: string }>(
    `select record ->> 'id' as id from daywalk.shown_records where stream = 'severe-2' limit 1`,
  );
  const search = ['search', String(seen?.id), '--config', file];
  const found = await scene.here(search);
  expect(found.stdout).toMatch(/^severe: 1 hit; /m);
  expect(found.stdout).toMatch(/^severe-2: 1 hit; 1 of 1 day proven, 2026-03-01 to 2026-03-01$/m);
  for (const flag of ['--stream', '--streams'])
    expect((await scene.here([...search, flag, 'severe'])).stdout).not.toMatch(/^severe-2/m);
  const verify = ['verify', '--offline', '--config', file];
  await scene.succeedHere(verify);
  await scene.database.query(
    `update daywalk.pages p set body = jsonb_set(body, '{marked}', 'true')
       from daywalk.walks k join daywalk.windows w using (window_id) join daywalk.streams s using (stream_id)
      where p.walk_id = k.walk_id and k.shown <> 'no' and p.page_no = 0 and s.name = 'severe-2'`,
  );
  const verified = await scene.here(verify);
  expect(verified).toMatchObject({ code: 3 });
  expect(verified.stdout).toMatch(
    /^severe-2 2026-03-01 walk .*: its body is not what was stored$/m,
  );
});
