/** The keys of a bucket in use, and their renewal when they were refused: the files that they come from may have changed. */
import { isDeepStrictEqual } from 'node:util';
import { ObjectStoreError } from '../../errors.ts';
import type { Redactor } from '../../redactor.ts';

/** What signs requests. */
export interface S3Keys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of keys that are lent for a time. */
  readonly sessionToken?: string;
}

/** So many of the keys that were lent last are struck out of all that is written. */
const MOST_LENT = 4;

/** @param redactor is told of every secret. */
export function openCredentials(
  store: string,
  source: S3Keys | (() => Promise<S3Keys>),
  redactor: Redactor,
) {
  let known: S3Keys | null = null;
  /** The secrets of keys that were lent for a time, newest last: of those that are long over none has to be struck out. */
  const lent: string[][] = [];
  const read = async (): Promise<S3Keys> => {
    const keys = typeof source === 'function' ? await source() : source;
    checkKeys(store, keys);
    const { accessKeyId, secretAccessKey, sessionToken } = keys;
    const secrets = [accessKeyId, secretAccessKey, ...(sessionToken ? [sessionToken] : [])];
    const news = secrets.filter((secret) => !redactor.secrets().includes(secret));
    redactor.add(...news);
    if (sessionToken && news.length > 0) lent.push(news);
    const over = lent.length > MOST_LENT ? lent.shift() : [];
    redactor.forget(...(over ?? []).filter((secret) => !secrets.includes(secret)));
    return keys;
  };
  return {
    current: async () => {
      known ??= await read();
      return known;
    },
    /** Reads them again after `refused` were refused. @returns whether there are others now. */
    renew: async (refused: S3Keys) => {
      // Another request may have renewed them meanwhile.
      if (known !== null && !isDeepStrictEqual(known, refused)) return true;
      // Where none can be read, the refusal itself is what has to be told.
      const fresh = await read().catch(() => null);
      if (fresh === null || isDeepStrictEqual(fresh, refused)) return false;
      known = fresh;
      return true;
    },
  };
}

/** The keys of one store. */
export type Credentials = ReturnType<typeof openCredentials>;

/** Visible ASCII only: what no header can carry would be told by an error that shows it. */
function checkKeys(store: string, keys: S3Keys): void {
  const { accessKeyId, secretAccessKey, sessionToken = 'none' } = keys;
  for (const key of [accessKeyId, secretAccessKey, sessionToken])
    if (!/^[\x21-\x7e]+$/.test(key))
      throw new ObjectStoreError(
        'settings',
        `${store}: key, secret or session token is empty or holds a space or a non-ASCII character`,
        {
          hint: 'A line break at the end of a key file is the usual reason; they are not shown here.',
        },
      );
}
