/** Where a bucket is: the URL of each object, and the connections there. */
import { isIP } from 'node:net';
import { ObjectStoreError } from '../../errors.ts';
import { isLoopbackHost } from '../../hosts.ts';
import type { Address } from '../../source/address.ts';
import { checkKey, isKey } from '../object-store.ts';

/** What the settings say of the place of a bucket. */
export interface S3Place {
  /** Of the service: `https://s3.eu-central-1.amazonaws.com`, `https://minio.example:9000`. */
  readonly endpoint: string;
  readonly bucket: string;
  /** Before every key, without a slash at its ends: `daywalk/soc-1`; empty: none. */
  readonly prefix: string;
  /** The bucket stands in the path, as most services of one's own want it; false: in the host name. */
  readonly pathStyle: boolean;
  /** Plain HTTP to other machines, too. */
  readonly allowHttp: boolean;
}

/** A bucket in the pieces that a request needs. */
export interface BucketAddress extends Address {
  /** `s3://bucket/prefix`. */
  readonly name: string;
  /** The path of an object of this key, the prefix within. @throws {ObjectStoreError} for what is no key. */
  readonly pathTo: (key: string) => string;
}

/** @throws {ObjectStoreError} for what is no place of a bucket; the URL is not repeated, because it may hold a password. */
export function bucketAddress(place: S3Place): BucketAddress {
  const { endpoint, bucket, prefix, pathStyle, allowHttp } = place;
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw wrong('the URL of the object store is not an http or https URL');
  if (url.username + url.password + url.search + url.hash !== '')
    throw wrong('the URL of the object store holds a password, a query or a fragment');
  if (url.protocol === 'http:' && !allowHttp && !isLoopbackHost(url.hostname))
    throw wrong(`plain HTTP to ${url.host} would show all events to the network`);
  if (!/^[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?!\.)){1,61}[A-Za-z0-9]$/.test(bucket))
    throw wrong(`${JSON.stringify(bucket)} is no name of a bucket`);
  if (prefix !== '' && !isKey(prefix))
    throw wrong(`${JSON.stringify(prefix)} is no prefix of keys`);
  if (!pathStyle && (isIP(url.hostname.replace(/^\[|\]$/g, '')) > 0 || url.pathname !== '/'))
    throw wrong('an address or a path in the URL of the object store needs path style');
  if (!pathStyle) url.hostname = `${bucket}.${url.hostname}`;
  const path = url.pathname.replace(/\/+$/, '');
  const root = pathStyle ? `${path}/${bucket}` : path;
  const keysBegin = prefix === '' ? '' : `${prefix}/`;
  const name = prefix === '' ? `s3://${bucket}` : `s3://${bucket}/${prefix}`;
  return {
    origin: url.origin,
    prefix: path,
    host: url.host,
    secure: url.protocol === 'https:',
    shown: `${url.origin}${path}`,
    name,
    pathTo: (key) => {
      checkKey(name, key);
      return `${root}/${(keysBegin + key).split('/').map(encodeURIComponent).join('/')}`;
    },
  };
}

function wrong(message: string): ObjectStoreError {
  return new ObjectStoreError('settings', message, {
    hint: 'tier.url looks like s3://bucket/prefix, tier.endpoint like https://minio.example:9000; most servers of your own want tier.path_style.',
  });
}
