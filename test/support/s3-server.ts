/** A small S3 on loopback: checks every signature by its own reckoning, keeps objects in memory, and can lack what some stores lack. */
import { createHash, createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';

export interface S3ServerKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface StoredObject {
  readonly body: Buffer;
  /** What was sent with it: metadata, lock, checksum. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What a store may do otherwise than Amazon's. */
export interface S3Manners {
  /** `If-None-Match` is not looked at. */
  ignoresConditions: boolean;
  /** `If-None-Match` is refused. */
  refusesConditions: boolean;
  /** `x-amz-checksum-sha256` is an error. */
  refusesChecksum: boolean;
  /** Whether objects can be locked; ignored: the headers are taken and forgotten. */
  lock: 'none' | 'ignored' | 'kept';
  /** What these keys may not do. */
  forbids: ReadonlySet<string>;
}

export interface S3Server {
  readonly port: number;
  readonly url: string;
  readonly bucket: string;
  readonly region: string;
  /** By key. */
  readonly objects: Map<string, StoredObject>;
  /** Method and key of each request that was signed well. */
  readonly asked: string[];
  readonly manners: S3Manners;
  /** These may sign from now on; the first is known to be expired if told so. */
  allow(keys: S3ServerKeys, expired?: S3ServerKeys): void;
  close(): Promise<void>;
}

interface Asked {
  readonly method: string;
  readonly host: string;
  /** As it came. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer | string;
}

const sha256 = (data: Buffer | string): string => createHash('sha256').update(data).digest('hex');
const SKEW_MS = 15 * 60_000;

/** An error as S3 tells it. */
export function s3Error(status: number, code: string, message = `It is ${code}.`): Answer {
  return {
    status,
    headers: { 'content-type': 'application/xml' },
    body: `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code><Message>${escaped(message)}</Message><Resource/><RequestId>1</RequestId></Error>`,
  };
}

class S3Error extends Error {
  readonly answer: Answer;
  constructor(status: number, code: string, message?: string) {
    super(code);
    this.answer = s3Error(status, code, message);
  }
}

/** Starts one with one bucket. Hosts that begin with its name mean it, others have it in the path. */
export async function startS3Server(keys: S3ServerKeys, tls?: ServerOptions): Promise<S3Server> {
  const bucket = 'events-of-years';
  const region = 'eu-test-1';
  const objects = new Map<string, StoredObject>();
  const asked: string[] = [];
  const manners: S3Manners = {
    ignoresConditions: false,
    refusesConditions: false,
    refusesChecksum: false,
    lock: 'none',
    forbids: new Set(),
  };
  let allowed = keys;
  let expired: S3ServerKeys | undefined;
  const onRequest: RequestListener = async (request, response) => {
    let answer: Answer;
    try {
      const one = await readAsked(request);
      checkSignature(one, region, allowed, expired);
      const key = keyOf(one, bucket);
      asked.push(`${one.method} ${key}`);
      answer = serve({ objects, manners }, one, key);
    } catch (error) {
      // A body that broke off: nobody waits for an answer.
      if (!(error instanceof S3Error)) return void response.destroy();
      answer = error.answer;
    }
    const body = Buffer.from(answer.body ?? '');
    response.writeHead(answer.status, { 'content-length': body.length, ...answer.headers });
    response.end(request.method === 'HEAD' ? undefined : body);
  };
  const server = tls ? createTlsServer(tls, onRequest) : createServer(onRequest);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    bucket,
    region,
    objects,
    asked,
    manners,
    allow(next, old) {
      allowed = next;
      expired = old;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function readAsked(request: IncomingMessage): Promise<Asked> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) headers[name] = String(value);
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  // A proxy gets the whole URL.
  const path = (request.url ?? '').replace(/^http:\/\/[^/]+/, '');
  const body = Buffer.concat(parts);
  return { method: request.method ?? '', host: headers.host ?? '', path, headers, body };
}

/** AWS Signature Version 4, as its documentation has it. */
function checkSignature(
  asked: Asked,
  region: string,
  keys: S3ServerKeys,
  expired: S3ServerKeys | undefined,
): void {
  const { headers } = asked;
  const told =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([a-z0-9;-]+), Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    );
  if (told === null) throw new S3Error(403, 'AccessDenied', 'No signature.');
  const [, id = '', day = '', toldRegion = '', signedNames = '', signature = ''] = told;
  if (id === expired?.accessKeyId) throw new S3Error(400, 'ExpiredToken', 'The token has expired.');
  if (id !== keys.accessKeyId) throw new S3Error(403, 'InvalidAccessKeyId', `No such key: ${id}`);
  if (headers['x-amz-security-token'] !== keys.sessionToken) throw new S3Error(400, 'InvalidToken');
  if (toldRegion !== region)
    throw new S3Error(400, 'AuthorizationHeaderMalformed', `Not ${region}.`);
  const at = headers['x-amz-date'] ?? '';
  const iso = at.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z');
  if (!at.startsWith(day) || Math.abs(Date.parse(iso) - Date.now()) > SKEW_MS)
    throw new S3Error(403, 'RequestTimeTooSkewed');
  const signed = signedNames.split(';');
  const mustBe = ['host', ...Object.keys(headers).filter((name) => name.startsWith('x-amz-'))];
  if (mustBe.some((name) => !signed.includes(name)))
    throw new S3Error(403, 'AccessDenied', 'There were headers present which were not signed.');
  const encode = (text: string): string =>
    [...Buffer.from(text)]
      .map((byte) => String.fromCharCode(byte))
      .map((one) =>
        /[A-Za-z0-9._~-]/.test(one)
          ? one
          : `%${one.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
      )
      .join('');
  const claimed = headers['x-amz-content-sha256'] ?? '';
  const canonical = [
    asked.method,
    asked.path
      .split('/')
      .map((part) => encode(decodeURIComponent(part)))
      .join('/'),
    // No query.
    '',
    ...signed.map((name) => `${name}:${(headers[name] ?? '').trim().replace(/ +/g, ' ')}`),
    '',
    signedNames,
    claimed,
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const secret = [day, region, 's3', 'aws4_request'].reduce<Buffer | string>(
    (key, part) => createHmac('sha256', key).update(part).digest(),
    `AWS4${keys.secretAccessKey}`,
  );
  const text = `AWS4-HMAC-SHA256\n${at}\n${scope}\n${sha256(canonical)}`;
  if (createHmac('sha256', secret).update(text).digest('hex') !== signature)
    throw new S3Error(403, 'SignatureDoesNotMatch');
  if (sha256(asked.body) !== claimed) throw new S3Error(400, 'XAmzContentSHA256Mismatch');
}

function keyOf({ host, path }: Asked, bucket: string): string {
  const plain = decodeURIComponent(path).slice(1);
  if (host.startsWith(`${bucket}.`)) return plain;
  const [first = '', ...rest] = plain.split('/');
  if (first !== bucket) throw new S3Error(404, 'NoSuchBucket');
  return rest.join('/');
}

interface Place {
  readonly objects: Map<string, StoredObject>;
  readonly manners: S3Manners;
}

function serve({ objects, manners }: Place, asked: Asked, key: string): Answer {
  if (manners.forbids.has(asked.method)) throw new S3Error(403, 'AccessDenied', 'Access\nDenied.');
  if (asked.method === 'PUT') return put({ objects, manners }, asked, key);
  if (asked.method === 'DELETE') {
    objects.delete(key);
    return { status: 204 };
  }
  const object = objects.get(key);
  // As Amazon does it: what may not be listed is not told to be absent.
  if (object === undefined)
    throw manners.forbids.has('ListBucket')
      ? new S3Error(403, 'AccessDenied')
      : new S3Error(404, 'NoSuchKey');
  return get(object, asked);
}

const KEPT = /^x-amz-(?:meta-|object-lock-)/;

function put({ objects, manners }: Place, { headers, body }: Asked, key: string): Answer {
  const condition = headers['if-none-match'];
  const checksum = headers['x-amz-checksum-sha256'];
  const lock = headers['x-amz-object-lock-mode'];
  if (headers['content-length'] !== String(body.length))
    throw new S3Error(411, 'MissingContentLength');
  if (checksum !== undefined && manners.refusesChecksum)
    throw new S3Error(400, 'InvalidArgument', 'Unsupported header x-amz-checksum-sha256');
  if (checksum !== undefined && checksum !== createHash('sha256').update(body).digest('base64'))
    throw new S3Error(400, 'BadDigest');
  if (lock !== undefined && checksum === undefined)
    throw new S3Error(400, 'InvalidRequest', 'x-amz-checksum- HTTP header is required');
  if (lock !== undefined && manners.lock === 'none')
    throw new S3Error(400, 'InvalidRequest', 'Bucket is missing Object Lock Configuration');
  if (condition !== undefined && manners.refusesConditions)
    throw new S3Error(501, 'NotImplemented');
  if (condition === '*' && objects.has(key) && !manners.ignoresConditions)
    throw new S3Error(412, 'PreconditionFailed');
  const kept = Object.entries(headers).filter(
    ([name]) => KEPT.test(name) && (manners.lock === 'kept' || !name.includes('lock')),
  );
  objects.set(key, { body, headers: Object.fromEntries(kept) });
  return { status: 200, headers: { etag: etagOf(body) } };
}

const etagOf = (body: Buffer): string => `"${createHash('md5').update(body).digest('hex')}"`;

function get({ body, headers }: StoredObject, asked: Asked): Answer {
  const all = { ...headers, etag: etagOf(body) };
  const range = /^bytes=(\d+)-(\d+)$/.exec(asked.headers.range ?? '');
  if (asked.method === 'HEAD')
    return { status: 200, headers: { ...all, 'content-length': String(body.length) } };
  if (range === null) return { status: 200, headers: all, body };
  const [start, end] = [Number(range[1]), Math.min(Number(range[2]) + 1, body.length)];
  if (start >= body.length) throw new S3Error(416, 'InvalidRange');
  return {
    status: 206,
    headers: { ...all, 'content-range': `bytes ${start}-${end - 1}/${body.length}` },
    body: body.subarray(start, end),
  };
}

function escaped(text: string): string {
  return text.replace(/[<>&"]/g, (one) => `&#${one.charCodeAt(0)};`);
}
