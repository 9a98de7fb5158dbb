/** A statement whose last value is large, sent without a copy of that value. */
import pg from 'pg';

/** Below this a copy costs less than a write of its own. */
const LARGE = 16 * 1024;
/** The type byte of the message Bind, and what follows its last value: one format code for all results, text. */
const BIND = 0x42;
const AFTER_VALUES = Buffer.from([0, 1, 0, 0]);
const NOTHING = Buffer.alloc(0);

/** What `submit` needs of a connection here. */
interface Wire {
  readonly stream: {
    readonly writable: boolean;
    cork(): void;
    uncork(): void;
    write(message: Uint8Array): boolean;
  };
}

/** Whether the last of these values is worth it. */
export function endsLarge(values: readonly unknown[]): boolean {
  const last = values.at(-1);
  return last instanceof Buffer && last.length >= LARGE;
}

/**
 * Runs a statement as `client.query` does. node-postgres copies all values into the message Bind: here it makes that
 * message for an empty last value, and the value itself is written in its place
 * (https://www.postgresql.org/docs/current/protocol-message-formats.html#PROTOCOL-MESSAGE-FORMATS-BIND).
 * @param values {@link endsLarge}.
 */
export function queryWithLargeValue<Row extends pg.QueryResultRow>(
  client: pg.ClientBase,
  sql: string,
  values: readonly unknown[],
): Promise<pg.QueryResult<Row>> {
  const large = values.at(-1) as Buffer;
  return new Promise((resolve, reject) => {
    const query = new pg.Query<Row>({ text: sql, values: [...values.slice(0, -1), NOTHING] });
    const submit = query.submit.bind(query);
    query.submit = (connection) => submit(insertingInto(connection, large));
    query.on('end', resolve);
    query.on('error', reject);
    client.query(query);
  });
}

/** The connection, with a stream that puts the value where Bind has an empty one. */
function insertingInto(connection: pg.Connection, large: Buffer): pg.Connection {
  const { stream } = connection as unknown as Wire;
  const write = (message: Buffer): boolean => {
    if (message[0] !== BIND) return stream.write(message);
    const valueEnds = message.length - AFTER_VALUES.length;
    message.writeInt32BE(message.length - 1 + large.length, 1);
    message.writeInt32BE(large.length, valueEnds - 4);
    stream.write(message.subarray(0, valueEnds));
    stream.write(large);
    return stream.write(AFTER_VALUES);
  };
  const { writable } = stream;
  const cork = (): void => stream.cork();
  const uncork = (): void => stream.uncork();
  return Object.create(connection, {
    stream: { value: { writable, cork, uncork, write } },
  }) as pg.Connection;
}
