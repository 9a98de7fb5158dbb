/** Where a bucket is: the URL of each object, and the connections there. */
import { isIP } from 'node:net';
import { ObjectStoreError } from '../../errors.ts';
import { checkKey } from '../object-store.ts';

/** What the settings say of the place of a bucket; they have checked it. */
export interface S3Place {
  /** Of the service: `https://s3.eu-central-1.amazonaws.com`, `https://minio.example:9000`. */
  readonly endpoint: string;
  readonly bucket: string;
  /** Before every key, without a slash at its ends: `daywalk/soc-1`; empty: none. */
  readonly prefix: string;
  /** The bucket stands in the path, as most services of one's own want it; false: in the host name. */
  readonly pathStyle: boolean;
}

/** @throws {ObjectStoreError} where the bucket cannot stand in the host name. */
export function bucketAddress(place: S3Place) {
  const { endpoint, bucket, prefix, pathStyle } = place;
  const url = new URL(endpoint);
  if (!pathStyle && (isIP(url.hostname.replace(/^\[|\]$/g, '')) > 0 || url.pathname !== '/'))
    throw new ObjectStoreError(
      'settings',
      'an address or a path in the URL of the object store needs path style',
      { hint: 'Set tier.path_style; most servers of your own want it.' },
    );
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
    /** `s3://bucket/prefix`. */
    name,
    /** The path of an object of this key, the prefix within. @throws {ObjectStoreError} for what is no key. */
    pathTo: (key: string) => {
      checkKey(name, key);
      return `${root}/${(keysBegin + key).split('/').map(encodeURIComponent).join('/')}`;
    },
  };
}

/** A bucket in the pieces that a request needs. */
export type BucketAddress = ReturnType<typeof bucketAddress>;
