/** What signs the requests to a bucket, and is never shown. */
import { ObjectStoreError } from '../../errors.ts';
import { fitsHeader } from '../../source/credentials.ts';

export interface S3Keys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of keys that are lent for a time; absent or empty: there is none. */
  readonly sessionToken?: string;
}

/** @throws {ObjectStoreError} for what no header can carry: it would be told by an error that shows it. */
export function secretsOf({ accessKeyId, secretAccessKey, sessionToken }: S3Keys): string[] {
  const secrets = [accessKeyId, secretAccessKey, ...(sessionToken ? [sessionToken] : [])];
  if (secrets.every(fitsHeader)) return secrets;
  throw new ObjectStoreError(
    'settings',
    'key, secret or session token of the bucket is empty or holds a space or a non-ASCII character',
    { hint: 'A line break at the end of a key file is the usual reason; they are not shown here.' },
  );
}
