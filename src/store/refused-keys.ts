/** The key that an API refused, noted as a salted digest: no worker sends it again too soon, after a restart neither. */
import { scryptSync } from 'node:crypto';
import type { Database } from './database.ts';

/** A key that is not to be sent. */
export interface RefusedKey {
  /** When it was refused first. */
  readonly since: Date;
  /** When it may be sent again; by the clock of the database, as all of it. */
  readonly until: Date;
  /** The answer, in words that hold no secret. */
  readonly said: string;
}

interface Row extends RefusedKey {
  readonly salt: string;
  readonly digest: Buffer;
  readonly fresh: boolean;
}

/**
 * Slow, so that a weak key cannot be guessed from the digest either. It takes 16 MB, which the process keeps; in the pool of
 * threads each of the four would keep its own.
 */
const digestOf = (key: string, salt: string) => scryptSync(key, salt, 32);

/** The note of this key at this API, however old; one of a clock that was ahead is not fresh. One attempt. */
async function readNote(database: Database, baseUrl: string, key: string): Promise<Row | null> {
  const rows = await database.query<Row>(
    `select since, refused_at + interval '1 hour' as until, said, salt, digest,
            refused_at > clock_timestamp() - interval '1 hour' and refused_at <= clock_timestamp() as fresh
       from daywalk.refused_keys where base_url = $1 order by refused_at desc`,
    [baseUrl],
  );
  return rows.find(({ salt, digest }) => digest.equals(digestOf(key, salt))) ?? null;
}

/** Whether this key was refused less than an hour ago; null: it may be sent. One attempt. */
export async function readRefusedKey(
  database: Database,
  baseUrl: string,
  key: string,
): Promise<RefusedKey | null> {
  const note = await readNote(database, baseUrl, key);
  if (!note?.fresh) return null;
  const { since, until, said } = note;
  return { since, until, said };
}

/** Notes that this key was refused now; other workers may have other keys. One attempt. @param salt is used where the key is a new one. */
export async function noteRefusedKey(
  database: Database,
  baseUrl: string,
  key: string,
  said: string,
  salt: string,
): Promise<RefusedKey | null> {
  const note = await readNote(database, baseUrl, key);
  const used = note?.salt ?? salt;
  const [noted] = await database.query<RefusedKey>(
    `insert into daywalk.refused_keys (base_url, salt, digest, said) values ($1, $2, $3, $4)
     on conflict (base_url, digest) do update set said = excluded.said, refused_at = excluded.refused_at
     returning since, refused_at + interval '1 hour' as until, said`,
    [baseUrl, used, note?.digest ?? digestOf(key, used), said],
  );
  return noted ?? null;
}

/** This key was taken; of others, what holds no more goes with its note. */
export async function forgetRefusedKey(database: Database, baseUrl: string, key: string) {
  await database.retry(async () => {
    const note = await readNote(database, baseUrl, key);
    await database.query(
      `delete from daywalk.refused_keys
        where base_url = $1 and (digest = $2 or refused_at + interval '1 hour' <= clock_timestamp())`,
      [baseUrl, note?.digest ?? null],
    );
  });
}
