/** `daywalk search`: what it prints, as text and as JSON, and its exit code, which says whether "nothing" counts. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { backfillHere } from '../support/backfill-here.ts';
import { violations } from '../support/json-schemas.ts';
import { andAtNight } from '../support/night.ts';
import { temporaryFolder } from '../support/program.ts';
import { type Scene, setScene } from '../support/scene.ts';

const RANGE = ['--from', '2026-03-01', '--to', '2026-03-03'];
const EVENTS = [...RANGE, '--stream', 'events'];
const INSERTED =
  '{"timestamp":"2026-03-02T10:00:00.000+0000","score":1.90,"seen":[{"by \\u001b[31m":"10.99.0.1"},"10.99.0.1"],"number":123456789012345678901234567890.10}';

let scene: Scene;
beforeAll(async () => {
  scene = await setScene({ eventsPerDay: 100 });
  scene.api.insert([INSERTED]);
  await backfillHere(scene, { from: '2026-03-01', to: '2026-03-03' });
});

test('--json is one document that fits its schema, with every digit and all hits', async () => {
  const search = async (...args: string[]) => {
    const { stdout, code } = await scene.here(['search', ...args, '--json']);
    const document = JSON.parse(stdout);
    expect(violations('search', document)).toEqual([]);
    return { stdout, code, document };
  };

  const one = await search('123456789012345678901234567890.1', ...EVENTS);
  expect(one.code).toBe(0);
  expect(one.stdout).toContain('"number": 123456789012345678901234567890.10,');
  expect(one.document).toMatchObject({
    value: '123456789012345678901234567890.1',
    limited: false,
    hits: [{ stream: 'events', day: '2026-03-02', paths: ['$.number'], goneSince: null }],
    streams: [
      {
        stream: 'events',
        days: 3,
        proven: 3,
        unproven: [],
        hits: 1,
        finished: true,
        pagesOpened: 1,
      },
    ],
  });

  // Something that stands in many records, and on most pages.
  const [common] = await scene.database.query<{ value: string; records: number }>(
    `select record -> 'agent' ->> 'name' as value, count(*)::int as records from daywalk.events group by 1 order by 2 desc limit 1`,
  );
  const { value = '', records = 0 } = common ?? {};
  expect(records).toBeGreaterThan(20);
  const many = await search(value, ...EVENTS);
  expect(many.document.hits).toHaveLength(records);
  const some = await search(value, ...EVENTS, '--limit', '7');
  expect(some).toMatchObject({
    code: 0,
    document: { limited: true, streams: [{ hits: 7, finished: false }] },
  });
  expect(some.document.hits).toEqual(many.document.hits.slice(0, 7));
  const text = await scene.succeed(['search', value, ...EVENTS, '--limit', '7']);
  expect(text.stdout).toMatch(
    /^events: 7 hits and more; 3 of 3 days proven, .*\nIt ended at the limit of hits; --limit raises it\.$/m,
  );

  // A day that cannot be had yet is no answer of nothing.
  expect(await scene.here(['search', 'x', '--from', '2099-01-01', '--json'])).toMatchObject({
    code: 2,
    stdout: '',
  });
});

test('hits and the coverage; exit code 0 where all days are proven, else 3', async () => {
  const filters = await scene.database.query(
    `select (select count(*)::int from daywalk.page_filters) as filters,
            (select count(*)::int from daywalk.pages p join daywalk.walks k using (walk_id) where k.shown <> 'no') as pages`,
  );
  expect(filters[0]?.filters).toBe(filters[0]?.pages);

  const found = await scene.succeedHere(['search', '10.99.0.1', ...RANGE]);
  expect(found.stdout).toMatch(
    /^events 2026-03-02, walk \d+, page \d+, record \d+, seen 20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC: \$\.seen\[1\], \$\.seen\[0\]\."by \\u001b\[31m"$/m,
  );
  expect(found.stdout).toContain('"number": 123456789012345678901234567890.10,');
  expect(found.stdout).not.toContain('\u001b');
  expect(found.stdout).toMatch(
    /^events: 1 hit; 3 of 3 days proven, 2026-03-01 to 2026-03-03\nsmart-event: nothing; 3 of 3 days proven, 2026-03-01 to 2026-03-03$/m,
  );

  const absent = await scene.succeedHere(['search', '10.99.0.2', ...EVENTS]);
  expect(absent.stdout).toBe('events: nothing; 3 of 3 days proven, 2026-03-01 to 2026-03-03\n');

  await scene.database.query(
    `update daywalk.windows w set state = 'failed', last_error = 'why' from daywalk.streams s
      where s.stream_id = w.stream_id and s.name = 'events' and w.kind = 'day' and w.day = '2026-03-02'`,
  );
  const unproven = await scene.here([
    'search',
    '10.99.0.2',
    '--from',
    '2026-02-27',
    '--to',
    '2026-03-03',
    '--stream',
    'events',
  ]);
  expect(unproven).toMatchObject({ code: 3 });
  expect(unproven.stdout).toMatch(
    /^events: nothing; 2 of 5 days proven, 2026-02-27 to 2026-03-03\n {2}not proven: 2026-02-27 to 2026-02-28 (?:unplanned|missing), 2026-03-02 failed\n/,
  );
});

test('what it does not understand is exit code 2', async () => {
  for (const [args, message] of andAtNight<[args: string[], message: RegExp]>(
    [
      [['search', ''], /the value to search for is empty/],
      [['search', 'x', '--limit', '0'], /--limit: "0" is not a whole number from 1 to 999999999/],
    ],
    [
      [['search'], /missing required argument 'value'/],
      [['search', 'x', '--from', '2026-03-02', '--to', '2026-03-01'], /is after --to/],
      [
        ['search', 'x', '--stream', 'nobody'],
        /"nobody" is not one of those that the settings define: events/,
      ],
    ],
  )) {
    const ended = await scene.here(args);
    expect(ended, args.join(' ')).toMatchObject({ code: 2, stdout: '' });
    expect(ended.stderr).toMatch(message);
  }
});

test('a bucket that cannot be opened leaves no half of a document', async () => {
  const file = join(temporaryFolder(), 'ca.pem');
  await writeFile(file, 'no certificate');
  const ended = await scene.here(['search', '--json', '203.0.113.7'], {
    DAYWALK_TIER_URL: 's3://soc-archive',
    DAYWALK_TIER_KEY: 'access-key-1',
    DAYWALK_TIER_SECRET: 'secret-key-1',
    DAYWALK_TIER_CA_FILE: file,
  });
  expect(ended).toMatchObject({ code: 2, stdout: '' });
});
