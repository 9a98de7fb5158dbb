/** TLS to Postgres: a certificate that does not hold is refused, and the one way around it is said loudly. */
import { expect } from 'vitest';
import { CLUSTER, databaseIn, startTlsCluster } from '../support/cluster.ts';
import { setScene } from '../support/scene.ts';
import { testWith } from '../support/tool.ts';

testWith(
  ['openssl', ...CLUSTER],
  'the certificate of the database is checked: authority, name and file; no-verify works and warns',
  async () => {
    const { cluster, ca } = await startTlsCluster();
    const scene = await setScene({}, await databaseIn(cluster));
    const status = (parameters: string, host = '127.0.0.1') =>
      scene.run(['status'], {
        DATABASE_URL: `${cluster.url('daywalk').replace('127.0.0.1', host)}?${parameters}`,
        DAYWALK_DATABASE_PATIENCE: '0s',
      });

    for (const mode of ['verify-full', 'require']) {
      const unknown = await status(`sslmode=${mode}`);
      expect(unknown, unknown.stderr).toMatchObject({ code: 2, stdout: '' });
      expect(unknown.stderr).toMatch(/certificate of the database is refused[\s\S]*sslrootcert/);
      expect(unknown.stderr).not.toMatch(/Warning/);
    }
    expect(await status(`sslmode=require&sslrootcert=${ca}`)).toMatchObject({ code: 0 });
    const otherName = await status(`sslmode=verify-full&sslrootcert=${ca}`, 'localhost');
    expect(otherName.stderr).toMatch(/ERR_TLS_CERT_ALTNAME_INVALID/);
    expect(otherName).toMatchObject({ code: 2 });
    const missing = await status('sslmode=verify-full&sslrootcert=/nowhere/ca.pem');
    expect(missing.stderr).toMatch(/file that DATABASE_URL names cannot be read \(ENOENT\)/);
    expect(missing).toMatchObject({ code: 2 });

    // Of several hosts each is checked by its own name.
    const [named, other] = [`127.0.0.1:${cluster.port}`, `localhost:${cluster.port}`];
    const several = await status(`sslrootcert=${ca}&sslmode=verify-full`, `${other},127.0.0.1`);
    expect(several, several.stderr).toMatchObject({ code: 0 });
    const none = await status('sslmode=verify-full', `${other},127.0.0.1`);
    expect(none, none.stderr).toMatchObject({ code: 2, stdout: '' });
    for (const host of [named, other])
      expect(none.stderr).toMatch(
        new RegExp(`${host}: the certificate of the database is refused`),
      );

    const loud = await status('sslmode=no-verify');
    expect(loud).toMatchObject({ code: 0 });
    expect(loud.stderr).toMatch(
      /"level":"warn".*switches the check of the database certificate off/,
    );
    await cluster.stop('fast');
  },
);
