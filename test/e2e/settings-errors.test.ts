/** What is wrong with settings, flags and the command line: told at once, in words, with exit code 2, before anything is done. */
import { expect, test } from 'vitest';
import { runProgram } from '../support/program.ts';
import { setScene } from '../support/scene.ts';
import { BACKFILL, expectTold } from './wrong-settings.ts';

test.each([
  [
    'a day in words',
    ['backfill', '--from', 'last week', '--to', '2026-3-1'],
    {},
    ['--from', 'last week', 'yesterday'],
  ],
  ['--from missing', ['backfill', '--to', '2026-03-01'], {}, ['--from', 'for example']],
  ['--only something', [...BACKFILL, '--only', 'some'], {}, ['--only', 'missing', 'failed', 'all']],
  ['an unknown flag', ['run', '--page-lenght', '5'], {}, ['--page-lenght', '--page-length']],
  ['an unknown verb', ['rum'], {}, ['rum', 'run']],
  ['no verb', [], {}, ['Usage', 'backfill', 'status']],
  ['an argument too many', ['run', 'fast'], {}, ['too many arguments']],
  [
    'an unknown setting',
    ['run'],
    { DAYWALK_PAGE_LENGHT: '5' },
    ['DAYWALK_PAGE_LENGHT', 'DAYWALK_PAGE_LENGTH'],
  ],
  [
    'no API',
    ['run'],
    { DAYWALK_API_URL: undefined, DAYWALK_API_KEY: undefined },
    ['api.url', 'api.key', 'DAYWALK_API_URL', 'DAYWALK_API_KEY'],
  ],
  [
    'plain HTTP to another machine',
    ['run'],
    { DAYWALK_API_URL: 'http://api.example.com' },
    ['unencrypted', 'https', 'api.allow_http'],
  ],
  ['a settings file that is not there', ['run', '--config', 'nowhere.yaml'], {}, ['nowhere.yaml']],
] as const)('%s', expectTold);

test('ten wrong settings are told at once, each with its place', async () => {
  const ended = await runProgram(
    [
      'backfill',
      '--from',
      '2026-03-01',
      '--to',
      '2026-03-02',
      '--page-length',
      '0',
      '--concurrency',
      'many',
    ],
    {
      environment: {
        DAYWALK_API_URL: 'ftp://api.example.com',
        DATABASE_URL: 'mysql://root:pass-word-1234@db/x',
        DAYWALK_TIMEZONE: 'Nowhere/Land',
        DAYWALK_SINCE: '2026-02-30',
        DAYWALK_LEASE: '1s',
        DAYWALK_SCHEDULE: 'often',
        DAYWALK_LOG_LEVEL: 'loud',
        DAYWALK_API_GZIP: 'perhaps',
        DAYWALK_BODY_LIMIT: '1 parsec',
      },
      secrets: ['pass-word-1234'],
    },
  );
  expect(ended).toMatchObject({ code: 2, stdout: '' });
  const places = [
    'flag --page-length',
    'flag --concurrency',
    'environment DAYWALK_API_URL',
    'environment DATABASE_URL',
    'environment DAYWALK_TIMEZONE',
    'environment DAYWALK_SINCE',
    'environment DAYWALK_LEASE',
    'environment DAYWALK_SCHEDULE',
    'environment DAYWALK_LOG_LEVEL',
    'environment DAYWALK_API_GZIP',
    'environment DAYWALK_BODY_LIMIT',
    'api.key',
  ];
  expect(ended.stderr).toMatch(new RegExp(`^daywalk: ${places.length} settings are wrong:`));
  for (const place of places) expect(ended.stderr).toContain(`  ${place}: `);
  expect(ended.stderr.trimEnd().split('\n')).toHaveLength(1 + places.length);
});

test('a stream that is not known is told of the flag as it was typed', async () => {
  const scene = await setScene();
  for (const flag of ['--stream', '--streams'])
    expect((await scene.here(['run', flag, 'event'])).stderr).toContain(`flag ${flag}: "event"`);
});

test('a stream that --stream does not know changes nothing', async () => {
  const scene = await setScene();
  const ended = await scene.here([...BACKFILL, '--stream', 'event']);
  expect(ended).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toContain('"event"');
  expect(ended.stderr).toContain('events, smart-event');
  expect(scene.api.counts.requests).toBe(0);
  expect(await scene.database.query('select from daywalk.streams')).toEqual([]);
});
