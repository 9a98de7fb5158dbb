/** Objects in a bucket: the contract of object stores over a simulated S3, its manners, and what may be asked of an address. */
import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { exitCodeOf, ObjectStoreError } from '../../src/errors.ts';
import { checkStore } from '../../src/tier/object-store.ts';
import { bucketAddress } from '../../src/tier/s3/s3-address.ts';
import { codeIn, failureOf } from '../../src/tier/s3/s3-failure.ts';
import { type Certificates, makeCertificates } from '../support/certificates.ts';
import { CLOSED_PORT } from '../support/ports.ts';
import type { S3Manners } from '../support/s3-server.ts';
import { testWith } from '../support/tool.ts';
import { fileOf, going, objectStoreContract } from './object-store-contract.ts';
import { inHost, inPath, KEYS, keysIn, newServer, storeAt } from './s3-store-scene.ts';

const BYTES = Buffer.from('whole');

/** A store and its simulated server, with some manners. */
async function withManners(manners: Partial<S3Manners>, options = {}) {
  const server = await newServer();
  Object.assign(server.manners, manners);
  return { server, ...storeAt(server, options) };
}

const failure = (work: Promise<unknown>): Promise<ObjectStoreError> =>
  work.then(
    () => expect.unreachable('no failure'),
    (error) => error,
  );

describe('the contract, with the bucket in the path and a prefix', () => {
  objectStoreContract(inPath);
});

describe('the contract, with the bucket in the host, through a proxy, with a session token', () => {
  objectStoreContract(inHost);
});

describe('objects', () => {
  test('lie below the prefix; others of the bucket are not touched', async () => {
    const { server, store } = await withManners({});
    const other = { body: Buffer.from('other'), headers: {} };
    server.objects.set('x', other);
    expect(await store.read('x', going)).toBeNull();
    expect(await store.create('x', BYTES, going)).toBe('created');
    await store.remove('x', going);
    expect([...server.objects]).toEqual([['x', other]]);
  });

  test('carry their digest; one of somebody else is read without', async () => {
    const { server, store } = await withManners({});
    await store.create('x', BYTES, going);
    expect(server.objects.get('pre/fix/x')?.headers).toMatchObject({
      'x-amz-meta-daywalk-sha256': createHash('sha256').update(BYTES).digest('hex'),
    });
    server.objects.set('pre/fix/y', { body: BYTES, headers: {} });
    expect(await store.read('y', going)).toEqual(BYTES);
    expect(await store.create('y', BYTES, going)).toBe('exists');
  });

  test('are locked where that is asked for', async () => {
    const { server, store } = await withManners({ lock: 'kept' }, { lockDays: 30 });
    await store.create('x', BYTES, going);
    await store.create('y', BYTES, going);
    // Looked at once.
    expect(server.asked.filter((asked) => asked.startsWith('HEAD'))).toHaveLength(1);
    await store.replace('last', BYTES, going);
    const headers = server.objects.get('pre/fix/x')?.headers ?? {};
    expect(headers['x-amz-object-lock-mode']).toBe('COMPLIANCE');
    const until = headers['x-amz-object-lock-retain-until-date'] ?? '';
    expect(until).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(Math.abs(Date.parse(until) - Date.now() - 30 * 86_400_000)).toBeLessThan(600_000);
    expect(server.objects.get('pre/fix/last')?.headers['x-amz-object-lock-mode']).toBeUndefined();
  });

  test('that try the store out are locked for an hour only', async () => {
    const manners: Partial<S3Manners> = { lock: 'kept', forbids: new Set(['DELETE']) };
    const { server, store } = await withManners(manners, { lockDays: 3650 });
    await failure(checkStore(store, going));
    const [left] = [...server.objects.values()];
    const until = left?.headers['x-amz-object-lock-retain-until-date'] ?? '';
    expect(Math.abs(Date.parse(until) - Date.now() - 3_600_000)).toBeLessThan(600_000);
  });

  test.each([
    ['none', 'Bucket is missing Object Lock Configuration', 'was made with object lock'],
    ['ignored', 'shows no object lock', 's3:GetObjectRetention'],
  ] as const)('a lock where the store has %s is told', async (lock, message, hint) => {
    const { store } = await withManners({ lock }, { lockDays: 1 });
    const error = await failure(checkStore(store, going));
    expect(error.message).toContain(message);
    expect(error.hint).toContain(hint);
    expect(exitCodeOf(error)).toBe(2);
  });

  test('are written without a checksum where no lock is asked for: some stores take none', async () => {
    const { store } = await withManners({ refusesChecksum: true });
    await checkStore(store, going);
  });
});

describe('a store is not trusted', () => {
  test('that overwrites', async () => {
    const { server, store } = await withManners({ ignoresConditions: true });
    const error = await failure(checkStore(store, going));
    expect(error.message).toContain('s3://events-of-years/pre/fix: a second object');
    expect(error.hint).toContain('If-None-Match');
    expect(exitCodeOf(error)).toBe(2);
    expect(server.objects.size).toBe(0);
  });

  test('that refuses conditions', async () => {
    const { server, store } = await withManners({ refusesConditions: true });
    const error = await failure(checkStore(store, going));
    expect(error.message).toContain('answered 501 NotImplemented');
    expect(error.hint).toContain('If-None-Match');
    expect(exitCodeOf(error)).toBe(2);
    expect(server.objects.size).toBe(0);
  });

  test.each(['PUT', 'GET', 'HEAD', 'DELETE', 'ListBucket'])(
    'whose %s may not be',
    async (method) => {
      const { store } = await withManners({ forbids: new Set([method]) });
      const error = await failure(checkStore(store, going));
      expect(error.message).toMatch(/(?:PUT|GET|HEAD|DELETE) daywalk-check.*answered 403/);
      expect(exitCodeOf(error)).toBe(2);
      expect(error.hint).toContain('s3:ListBucket');
    },
  );
});

describe('what is refused is told at once, with what to do', () => {
  test('no rights: where, what the store says in one line, and the rights', async () => {
    const { server, store } = await withManners({ forbids: new Set(['PUT', 'HEAD']) });
    const error = await failure(store.create('x', BYTES, going));
    expect(error).toBeInstanceOf(ObjectStoreError);
    expect(error.message).toBe(
      's3://events-of-years/pre/fix: PUT x: answered 403 AccessDenied Access Denied.',
    );
    expect(error.hint).toContain('s3:PutObject');
    const sized = await failure(store.size('x', going));
    expect(sized.message).toBe('s3://events-of-years/pre/fix: HEAD x: answered 403');
    expect(sized.hint).toContain('s3:ListBucket');
    expect([exitCodeOf(error), exitCodeOf(sized)]).toEqual([2, 2]);
    expect(server.asked).toHaveLength(2);
  });

  test.each([
    ['bucket', { bucket: 'another' }, /NoSuchBucket/, /Make the bucket/],
    ['region', { region: 'us-east-1' }, /AuthorizationHeaderMalformed Not eu-test-1/, /region/],
    [
      'key',
      { keys: async () => ({ ...KEYS, accessKeyId: 'OTHER' }) },
      /InvalidAccessKeyId/,
      /tier\.key_file/,
    ],
    [
      'secret',
      { keys: async () => ({ ...KEYS, secretAccessKey: 'wrong' }) },
      /SignatureDoesNotMatch/,
      /Host/,
    ],
    [
      'token',
      { keys: async () => ({ ...KEYS, sessionToken: 'x' }) },
      /InvalidToken/,
      /tier\.key_file/,
    ],
  ])('another %s', async (_, options, message, hint) => {
    const { store } = await withManners({}, options);
    const tries: (() => Promise<unknown>)[] = [
      () => store.create('x', BYTES, going),
      () => store.read('x', going),
    ];
    if ('bucket' in options) tries.push(() => store.size('x', going));
    for (const one of tries) {
      const error = await failure(one());
      expect(error.message).toMatch(message);
      expect(error.hint).toMatch(hint);
      expect(exitCodeOf(error)).toBe(2);
    }
  });

  test('a secret that the store tells back is struck out', async () => {
    const keys = { accessKeyId: 'secretly known', secretAccessKey: 'of no use' };
    const { store } = await withManners({}, { keys: async () => keys });
    const error = await failure(store.read('x', going));
    expect(error.message).toContain('holds a space');
    expect(JSON.stringify([error.message, error.hint])).not.toContain('secretly');
    const secret = 'AKIDSECRETSECRET';
    const echoed = await withManners(
      {},
      { keys: async () => ({ accessKeyId: secret, secretAccessKey: secret }) },
    );
    const refused = await failure(echoed.store.read('x', going));
    expect(refused.message).toContain('No such key: ***');
  });
});

describe('keys that expire in the middle', () => {
  const [old, fresh] = [
    { ...KEYS, accessKeyId: 'OLD', sessionToken: 'old' },
    { accessKeyId: 'NEW', secretAccessKey: 'another-secret', sessionToken: 'new' },
  ];

  test('are read again, once for all requests', async () => {
    let [now, reads] = [old, 0];
    const server = await newServer(old);
    const { store } = storeAt(server, {
      keys: async () => {
        reads++;
        return now;
      },
    });
    await store.create('a', BYTES, going);
    server.allow(fresh, old);
    now = fresh;
    expect(await store.size('a', going)).toBe(5);
    expect(reads).toBe(2);
    const keys = Array.from({ length: 8 }, (_, at) => `b${at}`);
    server.allow({ ...fresh, accessKeyId: 'NEXT' });
    now = { ...fresh, accessKeyId: 'NEXT' };
    await Promise.all(keys.map((key) => store.create(key, BYTES, going)));
    expect(keysIn(server)).toEqual(['a', ...keys]);
  });

  test('and stay as they are: told', async () => {
    const server = await newServer(fresh);
    server.allow(fresh, old);
    const { store } = storeAt(server, { keys: async () => old });
    const error = await failure(store.read('a', going));
    expect(error.message).toContain('answered 400 ExpiredToken The token has expired.');
    expect(error.hint).toContain('tier.key_file');
    expect(exitCodeOf(error)).toBe(2);
  });

  test('and cannot be read any more: what was refused is told', async () => {
    const server = await newServer(old);
    let isThere = true;
    const keys = async () => {
      if (!isThere) throw new Error('no such file');
      return old;
    };
    const { store } = storeAt(server, { keys });
    await store.create('a', BYTES, going);
    server.allow(fresh, old);
    isThere = false;
    expect((await failure(store.read('a', going))).message).toContain('ExpiredToken');
    await expect(storeAt(server, { keys }).store.read('a', going)).rejects.toThrow('no such file');
  });
});

describe('an address', () => {
  const good = {
    endpoint: 'https://s3.eu-central-1.amazonaws.com',
    bucket: 'events',
    prefix: 'daywalk/soc-1',
    pathStyle: false,
  };

  test.each([
    [{}, 'https://events.s3.eu-central-1.amazonaws.com', '/daywalk/soc-1/a%3D1/b%20%2B.x'],
    [
      { pathStyle: true, endpoint: 'https://minio.test:9000/' },
      'https://minio.test:9000',
      '/events/daywalk/soc-1/a%3D1/b%20%2B.x',
    ],
    [
      { pathStyle: true, endpoint: 'https://x.test/storage/v1/s3', prefix: '' },
      'https://x.test',
      '/storage/v1/s3/events/a%3D1/b%20%2B.x',
    ],
  ])('%j', (other, origin, path) => {
    const address = bucketAddress({ ...good, ...other });
    expect([address.origin, address.pathTo('a=1/b +.x')]).toEqual([origin, path]);
    expect(address.name).toBe(path.includes('soc-1') ? 's3://events/daywalk/soc-1' : 's3://events');
  });

  test.each([
    [{ endpoint: 'https://10.0.0.1' }, /path style/],
    [{ endpoint: 'https://[::1]:9000' }, /path style/],
  ])('%j is refused', (other, message) => {
    try {
      bucketAddress({ ...good, ...other });
      expect.unreachable();
    } catch (error) {
      expect(exitCodeOf(error)).toBe(2);
      expect(String(error)).toMatch(message);
    }
  });

  test('where nobody listens is away, when the time is over', async () => {
    const server = await newServer();
    const retry = { timeMs: 30, baseMs: 5, capMs: 5, retryAfterLimitMs: 0 };
    const endpoint = `http://127.0.0.1:${CLOSED_PORT}`;
    const { store } = storeAt(server, { endpoint, retry });
    const error = await failure(store.create('a', BYTES, going));
    expect(error).toBeInstanceOf(ObjectStoreError);
    expect(error.message).toMatch(/^s3:\/\/events-of-years\/pre\/fix: PUT a: .*ECONNREFUSED/);
    expect(error.hint).toContain(endpoint);
    expect(exitCodeOf(error)).toBe(5);
  });
});

testWith(['openssl'], 'TLS is checked, with the authority of the settings', async () => {
  const { ca, server: identity, expired } = makeCertificates() as Certificates;
  const server = await newServer(KEYS, identity);
  const { store } = storeAt(server, { tls: { ca } });
  expect(await store.create('x', BYTES, going)).toBe('created');
  const old = await newServer(KEYS, expired);
  for (const { store } of [storeAt(server), storeAt(old, { tls: { ca } })]) {
    const error = await failure(store.create('x', BYTES, going));
    expect(error.message).toMatch(/^s3:\/\/events-of-years\/pre\/fix: the certificate of 127/);
    expect(error.hint).toContain('tier.ca_file');
    expect(exitCodeOf(error)).toBe(2);
  }
  expect(old.asked).toEqual([]);
});

describe('an error as S3 tells it', () => {
  const of = (text: string) => ({ status: 400, headers: {}, body: Buffer.from(text) });
  const ERROR = '<Error><Code>NoSuchKey</Code><Message>It is not here.</Message></Error>';

  test.each([
    ERROR,
    `\uFEFF<?xml version="1.0" encoding="UTF-8"?>\n${ERROR}\n`,
    '<Error xmlns="x y">\n <Message/>\n <Code>NoSuchKey</Code></Error>',
  ])('has its code: %j', (text) => {
    expect(codeIn(of(text))).toBe('NoSuchKey');
  });

  test.each([
    '',
    'NoSuchKey',
    ERROR.slice(0, -1),
    `x${ERROR}`,
    `${ERROR}x`,
    `<html>${ERROR}</html>`,
    '<Errors><Code>NoSuchKey</Code></Errors>',
    '<Error><Code>no such key</Code></Error>',
    '<Error><Code></Code></Error>',
    `<Error>${' '.repeat(70_000)}<Code>NoSuchKey</Code></Error>`,
  ])('is none: %j', (text) => {
    expect(codeIn(of(text.slice(0, 70_100)))).toBeUndefined();
  });

  test('is told as it stands, without a secret, escaped or not', () => {
    const retry = { timeMs: 0, baseMs: 0, capMs: 0, retryAfterLimitMs: 0 };
    const link = { clock: systemClock, retry, secrets: () => ['a&b"c\'d<e'] };
    const told = (said: string) =>
      failureOf(of(`<Error><Code>Odd</Code><Message>${said}</Message></Error>`), 'x', link).message;
    expect(told('a&amp;b&#34;c&#x27;d&lt;e is &quot;no&quot; key&#xA;')).toBe(
      'x: answered 400 Odd *** is &quot;no&quot; key&#xA;',
    );
    expect(told('&nbsp;&#xFFFFFF;&')).toContain('&nbsp;&#xFFFFFF;&');
  });

  test('whatever comes takes no time', () => {
    for (const piece of ['<Error>', '<Error ', '</Error>', ' ', '<?xml ', '<Message>', '<Code>A'])
      for (const text of [piece.repeat(9_000), `<Error>${piece.repeat(9_000)}</Error>`])
        codeIn(of(text));
  });
});

test('a file goes as it is', async () => {
  const { server, store } = await withManners({});
  const bytes = Buffer.from('as it is');
  await store.create('x', fileOf(bytes), going);
  expect(server.objects.get('pre/fix/x')?.body).toEqual(bytes);
});
