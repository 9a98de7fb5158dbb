/** What an error of Postgres means for the statement that met it (SQLSTATE, PostgreSQL manual, appendix A). */
import pg from 'pg';
import {
  DaywalkError,
  type ErrorDetails,
  isBadCertificate,
  SettingsError,
  TransientError,
} from '../../errors.ts';

/** The statement may or may not have taken effect: look at the rows before anything else (ARCHITECTURE, leases). */
export class OutcomeUnknownError extends TransientError {}

/** No answer came within so many milliseconds. */
export const notInTime = (ms: number): OutcomeUnknownError =>
  new OutcomeUnknownError(`Postgres did not answer within ${ms} ms`, { timedOut: true });

/** The connection was lost under a statement: it may be this one that the server died of. */
export class ConnectionLostError extends OutcomeUnknownError {}

/** Another transaction held for too long what a statement wanted, by a limit of the server or the role. */
export class LockedError extends TransientError {}

/** The server had no memory left for a statement. */
export class OutOfMemoryError extends TransientError {}

/** A statement failed in a way that repeating does not mend. */
export class StatementError extends DaywalkError {
  readonly sqlstate: string;
  constructor(sqlstate: string, message: string, details: ErrorDetails = {}) {
    super(message, details);
    this.sqlstate = sqlstate;
  }
}

/** Postgres cannot hold this body as `jsonb`; `sqlstate` says why. */
export class BodyRefusedError extends StatementError {}

/** Invalid text, untranslatable character, number out of range, too long, too deep, allocation failed. */
const BODY_REFUSED = new Set(['22P02', '22P05', '22003', '22021', '54000', '54001', 'XX000']);
/** Serialisation failure, deadlock, lock not available, statement cancelled: the statement had no effect. */
const NO_EFFECT = new Set(['40001', '40P01', '57014']);

/** What `pg` says, without a code, of a server that has no TLS, or answers the question for it with anything else. */
const NO_TLS = /^The(?: server does not support|re was an error establishing an) SSL connection/;

/** What PgBouncer says of a wrong user or password; all that it says has the one code 08P01 (1.18, src/client.c). */
const PGBOUNCER_REFUSAL = /^(?:SASL|password) authentication failed/;

/** Makes a database that can hold every event. */
export const CREATE_DATABASE =
  "create database daywalk owner daywalk encoding 'UTF8' template template0";
const WRONG_LOGIN = 'Check user, password and database name in DATABASE_URL.';
/** What a person has to settle, and how. */
const TO_SETTLE: readonly (readonly [states: RegExp, hint: string])[] = [
  [
    /^3D000/,
    `Is its name right in DATABASE_URL? If it is not there yet: psql -c "${CREATE_DATABASE}"`,
  ],
  [/^28/, WRONG_LOGIN],
  [
    /^42501/,
    'Give the role of DATABASE_URL the missing right: docs/roles.md; `daywalk migrate` needs the owner.',
  ],
  [/^(3F000|42P01|42703|42883)/, 'Run `daywalk migrate`, then try again.'],
  // Raised by our own functions: the name of a record table is taken, a month was detached, another isolation level than the one that they
  // rely on.
  [/^42939/, 'Name the table otherwise.'],
  [/^42809/, 'Attach it again, as it says; what stands in it is shown again then.'],
  [/^25004/, 'Reset default_transaction_isolation for the database and for the role of daywalk.'],
  [
    /^55000/,
    'Settle that in the database. A publication for all tables holds those of daywalk, too: leave them out, or say `alter table … replica identity full` of the one named.',
  ],
];

/** What the server is short of, and what to do about it. */
const SHORTAGES = new Map([
  ['53100', 'Make room on the disk of the database; nothing is lost, the next run goes on.'],
  ['53200', 'Give the database server more memory, or lower page_length.'],
  ['53300', 'Raise max_connections of the server, put PgBouncer in front, or lower concurrency.'],
]);

const MORE_LOCKS =
  'Raise max_locks_per_transaction of the database server: a statement locks each month of pages that is stored, and its indexes.';

/** Names an error of opening a connection: nothing was sent, so nothing can have taken effect. */
export function namedConnectError(error: unknown): Error {
  const { code, syscall } = error as { code?: unknown; syscall?: unknown };
  if (typeof code === 'string' && isBadCertificate(code))
    return new SettingsError(`the certificate of the database is refused (${code})`, {
      hint: 'Name the authority that signed it in DATABASE_URL: ?sslmode=verify-full&sslrootcert=/path/to/ca.pem; the host name must be that of the certificate.',
    });
  if (syscall === 'open')
    return new SettingsError(`a file that DATABASE_URL names cannot be read (${code})`, {
      hint: 'Check sslrootcert, sslcert and sslkey in DATABASE_URL.',
    });
  const { code: state, message } = read(error);
  if (NO_TLS.test(message))
    return new SettingsError('the database was asked for TLS, and has none', {
      hint: 'Switch ssl on there. Where nobody can listen on the way, such as in a network of containers on one machine, write ?sslmode=disable behind DATABASE_URL.',
    });
  if (state === '08P01' && PGBOUNCER_REFUSAL.test(message))
    return new SettingsError(`Postgres says: ${message} (${state})`, { hint: WRONG_LOGIN });
  const named = namedError(error);
  return named instanceof OutcomeUnknownError
    ? new TransientError(`the database cannot be reached (${read(error).message})`, {
        hint: 'Is Postgres running, and is DATABASE_URL right?',
      })
    : named;
}

/**
 * Names an error that `pg` threw by what to do about it.
 * Only message, code and names are taken over: detail and context may hold event data.
 */
export function namedError(error: unknown): Error {
  if (error instanceof DaywalkError) return error;
  // A fault of our own code is not the database's.
  if (error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError)
    return error;
  const { code, message, file } = read(error);
  if (code === undefined)
    return new ConnectionLostError(`the connection to Postgres was lost (${message})`);
  const text = `Postgres says: ${message} (${code})`;
  const [, hint] = TO_SETTLE.find(([states]) => states.test(code)) ?? [];
  if (hint !== undefined) return new SettingsError(text, { hint });
  if (code === '55P03') return new LockedError(text);
  if (NO_EFFECT.has(code)) return new TransientError(text, { timedOut: code === '57014' });
  // It has one code for memory and for locks; a body takes none of these.
  if (code === '53200' && file === 'lock.c') return new TransientError(text, { hint: MORE_LOCKS });
  if (code.startsWith('53'))
    return new (code === '53200' ? OutOfMemoryError : TransientError)(text, {
      hint: SHORTAGES.get(code) ?? 'Look at the log of the database server.',
    });
  if (/^(08|57|58|25)/.test(code)) return new OutcomeUnknownError(text);
  if (BODY_REFUSED.has(code)) return new BodyRefusedError(code, text);
  return new StatementError(code, text);
}

function read(error: unknown): {
  code: string | undefined;
  message: string;
  file?: string | undefined;
} {
  if (!(error instanceof Error)) return { code: undefined, message: String(error) };
  // Only what Postgres itself says has an SQLSTATE; `EPIPE` of a socket looks like one.
  const { code, file } = error instanceof pg.DatabaseError ? error : {};
  const message =
    error instanceof AggregateError ? error.errors.map(String).join('; ') : error.message;
  return { code, file, message: message === '' ? (code ?? error.name) : message };
}
