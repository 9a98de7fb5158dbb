/** What an error of Postgres becomes: named by what to do, and without the data that Postgres quotes. */
import { inspect } from 'node:util';
import pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { SettingsError, TransientError, UnavailableError } from '../../src/errors.ts';
import {
  BodyRefusedError,
  LockedError,
  namedConnectError,
  namedError,
  OutcomeUnknownError,
  OutOfMemoryError,
  StatementError,
} from '../../src/store/connection/sqlstate.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { openDatabase, planDays } from '../support/store.ts';

const postgres = (code: string) =>
  Object.assign(new pg.DatabaseError('says Postgres', 0, 'error'), {
    code,
    detail: 'CANARY',
    where: 'CANARY',
    hint: 'CANARY',
  });

describe('a code', () => {
  it.each<[string, new (...args: never[]) => Error]>([
    ['22P02', BodyRefusedError],
    ['22P05', BodyRefusedError],
    ['22003', BodyRefusedError],
    ['22021', BodyRefusedError],
    ['54000', BodyRefusedError],
    ['54001', BodyRefusedError],
    ['XX000', BodyRefusedError],
    ['40001', TransientError],
    ['40P01', TransientError],
    ['55P03', LockedError],
    ['57014', TransientError],
    ['53100', TransientError],
    ['53200', OutOfMemoryError],
    ['53300', TransientError],
    ['57P01', OutcomeUnknownError],
    ['57P02', OutcomeUnknownError],
    ['57P03', OutcomeUnknownError],
    ['08006', OutcomeUnknownError],
    ['08P01', OutcomeUnknownError],
    ['25004', SettingsError],
    ['25006', OutcomeUnknownError],
    ['25P03', OutcomeUnknownError],
    ['58030', OutcomeUnknownError],
    ['28P01', SettingsError],
    ['28000', SettingsError],
    ['3D000', SettingsError],
    ['42501', SettingsError],
    ['42939', SettingsError],
    ['42P01', SettingsError],
    ['42703', SettingsError],
    ['42883', SettingsError],
    ['3F000', SettingsError],
    ['55000', SettingsError],
    ['23505', StatementError],
    ['23514', StatementError],
    ['42601', StatementError],
  ])('%s', (code, type) => {
    const error = namedError(postgres(code));
    expect(error.constructor).toBe(type);
    expect(inspect(error, { depth: 9 })).not.toContain('CANARY');
    expect(error.message).toContain(code);
  });

  it.each(['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT', undefined])(
    'of the network (%s) leaves the outcome unknown',
    (code) => {
      expect(namedError(Object.assign(new Error('lost'), { code }))).toBeInstanceOf(
        OutcomeUnknownError,
      );
    },
  );

  it.each(['SASL authentication failed', 'password authentication failed'])(
    'of opening a connection, %s: for the operator, though PgBouncer gives it a code that may pass (08P01)',
    (message) => {
      const error = Object.assign(new pg.DatabaseError(message, 0, 'error'), { code: '08P01' });
      expect(namedConnectError(error)).toBeInstanceOf(SettingsError);
    },
  );
  it('of opening a connection with that code and other words may pass', () => {
    expect(namedConnectError(postgres('08P01'))).toBeInstanceOf(TransientError);
  });

  it('is none where our own code is at fault, or the error has its name already', () => {
    for (const error of [
      new TypeError('x'),
      new RangeError('x'),
      new ReferenceError('x'),
      new UnavailableError('api', 'x'),
    ])
      expect(namedError(error)).toBe(error);
  });

  it('of several addresses that all refused tells all', () => {
    const refused = new AggregateError(
      [new Error('::1 refused'), new Error('127.0.0.1 refused')],
      '',
    );
    expect(namedError(refused).message).toMatch(/::1 refused.*127\.0\.0\.1 refused/);
  });
});

describe('a real error', () => {
  let server: TestDatabase;
  beforeAll(async () => {
    server = await createTestDatabase();
  });

  it('of a constraint tells its name and not the row (S05, I10)', async () => {
    const database = openDatabase(server.url);
    await planDays(database);
    const error = await database
      .query(
        `insert into daywalk.runs (key, trigger, owner, outcome) values (gen_random_uuid(), 'hand', 'CANARY', 'done')`,
      )
      .catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(StatementError);
    expect(inspect(error, { depth: 9 })).not.toContain('CANARY');
    expect((error as Error).message).toMatch(/runs_check/);
  });

  it('of a body does not quote it (I10)', async () => {
    const database = openDatabase(server.url);
    const body = Buffer.concat([Buffer.from([1]), Buffer.from('{"secret": CANARY}')]);
    const error = await database
      .query('select $1::jsonb', [body])
      .catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(BodyRefusedError);
    expect(inspect(error, { depth: 9 })).not.toContain('CANARY');
  });

  it('of a wrong password, user or database is for the operator, and does not show the password (I10)', async () => {
    for (const [part, value] of [
      ['password', 'CANARY'],
      ['username', 'nobody-CANARY'],
      ['pathname', '/nothing'],
    ] as const) {
      const url = new URL(server.url);
      url[part] = value;
      // A server that trusts local connections takes any password.
      const error = await openDatabase(url.href, { patienceMs: 0 })
        .query('select 1')
        .catch((caught: unknown) => caught);
      if (part === 'password' && Array.isArray(error)) continue;
      expect(error).toBeInstanceOf(SettingsError);
      if (part === 'password') expect(inspect(error, { depth: 9 })).not.toContain('CANARY');
    }
  });

  it('of a table that a publication holds, and that has no key, is not put down to the isolation level', async () => {
    const database = openDatabase(server.url);
    await server.query('create table public.keyless (id integer)');
    await server.query('create publication everything for table public.keyless');
    const error = await database
      .query('delete from public.keyless')
      .catch((caught: unknown) => caught);
    expect(error).toMatchObject({ hint: expect.stringMatching(/replica identity/) });
  });

  it('of a server that ends the connection is settled by a new one (D10)', async () => {
    const database = openDatabase(server.url, { connections: 1 });
    await expect(database.query('select pg_terminate_backend(pg_backend_pid())')).rejects.toThrow(
      OutcomeUnknownError,
    );
    expect(await database.query('select 1 as one')).toEqual([{ one: 1 }]);
  });
});
