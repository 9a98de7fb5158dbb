/** Writing into a bucket: `created` is told to the one call whose bytes are there, whatever happened to its answers. */
import type { Clock } from '../../clock.ts';
import { ObjectStoreError, TransientError } from '../../errors.ts';
import { bytesOf, digestOf } from '../object-body.ts';
import { CHECK_FOLDER, type ObjectBody } from '../object-store.ts';
import type { AskS3 } from './s3-asking.ts';
import { codeIn } from './s3-failure.ts';
import { headersOf, isOfObject, S3_DIGEST } from './s3-read.ts';

/** Metadata that goes with each object: which call wrote it. */
const WRITE = 'x-amz-meta-daywalk-write';
const LOCK_MODE = 'x-amz-object-lock-mode';
const DAY_MS = 86_400_000;
/** What tries the store out may go soon, but be locked by the clock of the store, too. */
const CHECK_MS = 3_600_000;
/** What stores answer to a header that they do not take. */
const REFUSED_HEADER = new Set(['InvalidArgument', 'InvalidRequest', 'NotImplemented']);

/**
 * Writes objects; what it learns of the store stays.
 * @param lockDays so long new objects cannot be removed, not even by whoever has the keys.
 */
export function s3Writer(ask: AskS3, clock: Clock, lockDays: number | undefined) {
  let sendsChecksum = true;
  let lockWasSeen = lockDays === undefined;
  return (
    key: string,
    body: ObjectBody,
    signal: AbortSignal,
    { anew }: { readonly anew: boolean },
  ): Promise<'created' | 'exists'> => {
    const [sha256, own] = [digestOf(body), clock.uuid()];
    const checksum = { 'x-amz-checksum-sha256': Buffer.from(sha256, 'hex').toString('base64') };
    const headers = {
      [S3_DIGEST]: sha256,
      [WRITE]: own,
      ...(anew ? { 'if-none-match': '*', ...lockHeaders(lockDays, key, clock) } : {}),
    };
    return ask(`PUT ${key}`, signal, async (send, wrong) => {
      const put = (more: Readonly<Record<string, string>>) =>
        send({ method: 'PUT', key, body, headers: { ...headers, ...more } });
      let answer = await put(sendsChecksum ? checksum : {});
      // Some stores take no such header; the digest that is signed is checked by all.
      if (sendsChecksum && REFUSED_HEADER.has(codeIn(answer) ?? '')) {
        const without = await put({});
        if (isOfObject(without)) sendsChecksum = false;
        if (isOfObject(without) || without.status === 412) answer = without;
      }
      const isThere = anew && answer.status === 412;
      if (!isOfObject(answer) && !isThere) throw wrong(answer);
      if (isThere || (anew && !lockWasSeen)) {
        const found = await headersOf(send, wrong, key);
        if (found === null)
          throw new TransientError(`answered ${answer.status}, and has no such object`);
        // Whoever sent it twice, or lost the answer: this call has written it.
        const isOwn = found[WRITE] === own && found[S3_DIGEST] === sha256;
        if (!isOwn || Number(found['content-length']) !== bytesOf(body)) return 'exists';
        if (!lockWasSeen && found[LOCK_MODE] === undefined) throw withoutLock(key);
        lockWasSeen = true;
      }
      return 'created';
    });
  };
}

function lockHeaders(
  lockDays: number | undefined,
  key: string,
  clock: Clock,
): Record<string, string> {
  if (lockDays === undefined) return {};
  const ms = key.startsWith(CHECK_FOLDER) ? CHECK_MS : lockDays * DAY_MS;
  const until = new Date(clock.now() + ms);
  return {
    [LOCK_MODE]: 'COMPLIANCE',
    'x-amz-object-lock-retain-until-date': until.toISOString().replace(/\.\d+/, ''),
  };
}

function withoutLock(key: string): ObjectStoreError {
  return new ObjectStoreError(
    'settings',
    `${key} was written to the bucket, and shows no object lock`,
    {
      hint: 'The store knows none, or the key lacks s3:GetObjectRetention: take tier.lock_days out, or give it the right.',
    },
  );
}
