/** The settings of how the API is asked: how often, how long, how large; part of the one table. */
import { DAY, duration, integer, KIB, MIB, MINUTE, SECOND } from './kinds.ts';
import { section } from './setting.ts';

const walking = section('Walking');

/** In the order in which they are shown. */
export const REQUESTS = {
  rate: walking(
    'rate',
    { kind: 'rate', min: 1 / 3600, max: 10_000 },
    null,
    'How many requests all workers on this database together send to the API at most: `20/s`, `600/m`, `5000/h`.',
    { unset: 'no bound but what the API accepts, which each worker finds out by itself' },
  ),
  connectTimeout: walking(
    'connect_timeout',
    duration(100, 10 * MINUTE),
    '10s',
    'How long connecting to the API may take.',
  ),
  pageTimeout: walking(
    'page_timeout',
    duration(SECOND, DAY),
    '2m',
    'How long one page may take, from the request to its last byte.',
  ),
  bodyLimit: walking(
    'body_limit',
    { kind: 'size', min: 64 * KIB, max: 512 * MIB },
    '64MiB',
    'How large a page may be, before and after decompression.',
  ),
  retryAttempts: walking(
    'retry_attempts',
    integer(1, 100),
    '6',
    'How often a page is asked for, when what went wrong may pass. A 429 does not count.',
  ),
  retryTime: walking(
    'retry_time',
    duration(0, DAY),
    '5m',
    'How long a page is retried, all attempts and waits together.',
  ),
  retryAfterLimit: walking(
    'retry_after_limit',
    duration(0, DAY),
    '15m',
    'The longest `Retry-After` that is waited for.',
  ),
} as const;
