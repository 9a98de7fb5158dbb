/** A client of Postgres that gives its password in clear text to nobody, unless TLS has told who that is. */
import pg from 'pg';
import { SettingsError } from '../../errors.ts';

/** For a pool, or alone. */
export class Client extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    const { connection } = this;
    // Before the client's own listener, which sends it.
    connection.on('authenticationCleartextPassword', () => {
      if ('encrypted' in connection.stream) return;
      this.password = '';
      connection.stream.destroy();
      connection.emit('error', refusal());
    });
  }
}

const refusal = () =>
  new SettingsError('the database asks for the password in clear text', {
    hint: 'Have it ask for SCRAM (scram-sha-256 in pg_hba.conf, auth_type in pgbouncer.ini), or reach it by TLS: sslmode=verify-full in DATABASE_URL.',
  });
