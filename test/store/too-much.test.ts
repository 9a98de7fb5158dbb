/** A body at which the server breaks off each time is told from a server that is away, busy or short of something. */
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { TransientError, UnavailableError, UnstorableError } from '../../src/errors.ts';
import {
  ConnectionLostError,
  namedError,
  notInTime,
  OutcomeUnknownError,
  OutOfMemoryError,
} from '../../src/store/connection/sqlstate.ts';
import { watchBody } from '../../src/store/connection/too-much.ts';
import type { Database } from '../../src/store/database.ts';
import { freshStore, openDatabase } from '../support/store.ts';

const LARGE = 1_000_000;
let url: string;
let database: Database;

freshStore((store) => {
  ({ database } = store);
  ({ url } = store.server);
});

/** Attempts to send a body of so many bytes that fail so one after the other, the last of them for ever; or, after the last, do not. */
function attempts(
  bytes: number,
  errors: readonly Error[],
  to = database,
  askElse = (_: number) => to.query('select 1').then(() => true),
) {
  let made = 0;
  const attempt = async () => {
    const error = errors[made];
    made += 1;
    if (error !== undefined) throw error;
  };
  const body = watchBody(bytes, () => askElse(made));
  return to.retry(attempt, undefined, undefined, body).then(
    () => made,
    (error: unknown) => {
      throw Object.assign(error as Error, { made });
    },
  );
}

/** As Postgres says it: with the code of memory, and of the file that keeps its locks. */
const NO_LOCKS = Object.assign(new pg.DatabaseError('out of shared memory', 0, 'error'), {
  code: '53200',
  file: 'lock.c',
});

const again = (error: Error) => [error, error, error, error];

describe('a body is too much', () => {
  it.each([
    ['the server lost its memory twice', 10, again(new OutOfMemoryError('no memory')), 2],
    ['the connection was lost three times', 10, again(new ConnectionLostError('lost')), 3],
    ['it was large, and late', LARGE, [notInTime(9)], 1],
  ])('where %s', async (_, bytes, errors, made) => {
    const failed = await attempts(bytes, errors).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(UnstorableError);
    expect(failed).toMatchObject({ made });
  });

  it('also where its one attempt took all the patience', async () => {
    const hasty = openDatabase(url, { patienceMs: 0 });
    await expect(attempts(LARGE, [notInTime(9)], hasty)).rejects.toThrow(UnstorableError);
  });

  it('once the server is there again, where it died of it', async () => {
    const lost = new ConnectionLostError('lost');
    const away = new TransientError('starting up');
    await expect(attempts(10, [lost, away, lost, away, lost, away])).rejects.toThrow(
      UnstorableError,
    );
  });
});

describe('a body is none the worse', () => {
  it.each([
    [
      'the connection was lost twice',
      10,
      [new ConnectionLostError('lost'), new ConnectionLostError('lost')],
    ],
    ['it was small, and late', LARGE - 1, again(notInTime(9))],
    ['the server takes no writes', LARGE, again(new OutcomeUnknownError('read-only (25006)'))],
    ['something else is short', LARGE, again(new TransientError('disk full (53100)'))],
    ['the server has no room for more locks', LARGE, again(namedError(NO_LOCKS))],
    ['there is none', 0, again(new ConnectionLostError('lost'))],
  ])('where %s', async (_, bytes, errors) => {
    expect(await attempts(bytes, errors)).toBe(errors.length + 1);
  });

  it('where the server was away each time, and is there again', async () => {
    const lost = new ConnectionLostError('lost');
    const isBack = async (made: number) => made > 2;
    expect(await attempts(10, [lost, lost, lost], database, isBack)).toBe(4);
  });

  it('where the server answers nothing else either', async () => {
    const gone = openDatabase('postgres://nobody@127.0.0.1:1/none', { patienceMs: 0 });
    await expect(attempts(LARGE, [notInTime(9)], gone)).rejects.toThrow(UnavailableError);
  });
});

it('a server without room for more locks is told so, and not to have more memory', () => {
  expect(namedError(NO_LOCKS)).toMatchObject({
    hint: expect.stringContaining('max_locks_per_transaction'),
  });
});

it('a statement that the server itself ended was late', () => {
  const ended = Object.assign(new pg.DatabaseError('ended', 0, 'error'), { code: '57014' });
  expect(namedError(ended)).toMatchObject({ timedOut: true });
});
