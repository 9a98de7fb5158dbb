/** The settings of how the API is asked: how often, how long, how large; part of the one table. */
import { DAY, duration, KIB, MIB, MINUTE, SECOND } from './kinds.ts';
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
    // Beyond 256 MiB `jsonb` refuses it.
    { kind: 'size', min: 64 * KIB, max: 256 * MIB },
    '64MiB',
    'How large a page may be, before and after decompression. It may hold a value for every 16 bytes of it, and an object or a list for every 64.',
  ),
  retryTime: walking(
    'retry_time',
    duration(0, DAY),
    '5m',
    'How long a page is tried again when what went wrong may pass, without pauses that the API names.',
  ),
  retryAfterLimit: walking(
    'retry_after_limit',
    duration(0, DAY),
    '15m',
    'How long a page waits at most where the API names a time (`Retry-After`, quota headers), all such pauses together.',
  ),
} as const;
