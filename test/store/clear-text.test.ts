/** The password of the database: in clear text over TLS only, whatever a server, or who pretends to be one, asks for. */
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { SettingsError } from '../../src/errors.ts';
import { silentLogger } from '../../src/log.ts';
import { Database } from '../../src/store/database.ts';
import { migrate, readSchemaState } from '../../src/store/migrations.ts';
import { makeCertificates } from '../support/certificates.ts';
import { fakePostgres } from './fake-postgres.ts';

const PASSWORD = 'hunter2-CANARY-47';

async function queryOnce(url: string): Promise<unknown> {
  const database = new Database({
    url,
    connections: 1,
    statementTimeoutMs: 5_000,
    patienceMs: 0,
    clock: systemClock,
    log: silentLogger,
  });
  try {
    return await database.query('select 1');
  } finally {
    await database.close();
  }
}

const urlOf = (port: number, parameters = '') =>
  `postgres://daywalk:${PASSWORD}@127.0.0.1:${port}/daywalk${parameters}`;

describe.each<[string, (url: string) => Promise<unknown>]>([
  ['a statement', queryOnce],
  ['a look at the schema', readSchemaState],
  ['a migration', migrate],
])('%s', (_, connect) => {
  test('without TLS no password goes in clear text', async () => {
    const { port, sent } = await fakePostgres({ wants: 3 });
    const error = await connect(urlOf(port)).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(SettingsError);
    expect(error).toMatchObject({
      message: 'the database asks for the password in clear text',
      hint: expect.stringContaining('sslmode'),
    });
    expect(sent()).toContain('daywalk');
    expect(sent()).not.toContain('CANARY');
  });

  test('a server without TLS is refused where TLS is asked for, before anything is said', async () => {
    const { port, sent } = await fakePostgres({ wants: 3 });
    const error = await connect(urlOf(port, '?sslmode=verify-full')).catch(
      (error: unknown) => error,
    );
    expect(error).toBeInstanceOf(SettingsError);
    expect(error).toMatchObject({ hint: expect.stringContaining('sslmode=disable') });
    expect(sent()).toBe('');
  });

  test.each([5, 10] as const)(
    'what asks for a proof of it (%i) gets one, and not it',
    async (wants) => {
      const { port, sent } = await fakePostgres({ wants });
      await connect(urlOf(port)).catch(() => {});
      expect(sent()).toMatch(/md5[\da-f]{32}|SCRAM-SHA-256/);
      expect(sent()).not.toContain('CANARY');
    },
  );
});

test('over TLS it may: the certificate tells who asks', async ({ skip }) => {
  const made = makeCertificates();
  if (made === null) return skip('there is no openssl');
  const { port, sent } = await fakePostgres({ wants: 3, tls: made.server });
  await queryOnce(urlOf(port, '?sslmode=no-verify')).catch(() => {});
  expect(sent()).toContain(PASSWORD);
  const strict = await fakePostgres({ wants: 3, tls: made.server });
  await expect(queryOnce(urlOf(strict.port, '?sslmode=verify-full'))).rejects.toThrow(
    /certificate of the database is refused/,
  );
  expect(strict.sent()).toBe('');
});
