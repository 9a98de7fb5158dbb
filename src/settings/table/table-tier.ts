/** The settings of the tier: a part of the table in table.ts. */
import { DAY, duration, integer, LONGEST_AGE } from './kinds.ts';
import { secretWithFile, section } from './setting.ts';

const tier = section('Tier');

/** The rows, by their keys. */
export const TIER = {
  tierUrl: tier(
    'tier.url',
    { kind: 'place' },
    null,
    'Where old days move to: a folder, or a bucket as `s3://bucket/prefix`.',
    { flag: null, placeholder: '<folder|s3://…>', unset: 'no day moves' },
  ),
  tierEndpoint: tier(
    'tier.endpoint',
    { kind: 'url', of: 'api' },
    null,
    'Base URL of the server of the bucket, such as `https://minio.example:9000`.',
    { flag: null, unset: 'that of AWS in `tier.region`' },
  ),
  tierRegion: tier(
    'tier.region',
    { kind: 'text' },
    'us-east-1',
    'Region of the bucket; servers of your own mostly take any.',
    { flag: null },
  ),
  tierPathStyle: tier(
    'tier.path_style',
    { kind: 'boolean' },
    'no',
    'Name the bucket in the path of the URL and not in the name of the host; MinIO and Ceph want it mostly.',
    { flag: null },
  ),
  tierAllowHttp: tier(
    'tier.allow_http',
    { kind: 'boolean' },
    'no',
    'Send events over plain HTTP to another machine too; loopback needs no permission.',
    { flag: null },
  ),
  tierCaFile: tier(
    'tier.ca_file',
    { kind: 'path' },
    null,
    'PEM file of the certificate authorities that may sign the certificate of the server.',
    { flag: null, placeholder: '<file>', unset: 'those of Node.js' },
  ),
  ...secretWithFile(
    tier,
    'tierKey',
    'tier.key',
    { kind: 'apiKey' },
    'The access key of the bucket; in the environment or in a file, nowhere else.',
    'the access key',
  ),
  ...secretWithFile(
    tier,
    'tierSecret',
    'tier.secret',
    { kind: 'apiKey' },
    'The secret key of the bucket; in the environment or in a file, nowhere else.',
    'the secret key',
  ),
  ...secretWithFile(
    tier,
    'tierSessionToken',
    'tier.session_token',
    { kind: 'apiKey' },
    'What belongs to keys that are lent for a time (AWS STS); in the environment or in a file, nowhere else.',
    'the session token',
  ),
  tierAfter: tier(
    'tier.after',
    duration(DAY, LONGEST_AGE),
    null,
    'How long after it closed a day moves by itself, at the end of a run; such as 90d.',
    { flag: null, unset: 'only `daywalk tier` moves days' },
  ),
  tierLockDays: tier(
    'tier.lock_days',
    integer(1, 36_500),
    null,
    'For so many days nobody may change or remove an object (S3 Object Lock, in compliance mode); the bucket must have been made for it.',
    { flag: null, unset: 'objects are not locked' },
  ),
} as const;
