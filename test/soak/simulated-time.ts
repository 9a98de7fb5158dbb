/** A database whose clock can be moved on: an unqualified `clock_timestamp()` finds ours before that of Postgres. */
import { migrate } from '../../src/store/migrations.ts';
import { createEmptyDatabase, type TestDatabase } from '../support/database.ts';

/** A database with the schema in it, in a time of its own. */
export interface SimulatedTime {
  readonly database: TestDatabase;
  /** Moves the clock of the database on. */
  advance(hours: number): Promise<void>;
  /** The day that it is in the database, UTC. */
  today(): Promise<string>;
}

/** Makes the database; its schema is migrated under the moved clock, so that defaults and views use it as well. */
export async function createSimulatedTime(): Promise<SimulatedTime> {
  const database = await createEmptyDatabase();
  await database.query('create schema simulated');
  await database.query('create table simulated.time (ahead interval not null)');
  await database.query(`insert into simulated.time values ('0')`);
  await database.query(
    `create function simulated.clock_timestamp() returns timestamptz language sql volatile as
     $$ select pg_catalog.clock_timestamp() + ahead from simulated.time $$`,
  );
  await database.query(
    `alter database ${database.name} set search_path = simulated, pg_catalog, public`,
  );
  await migrate(database.url);
  return {
    database,
    async advance(hours) {
      await database.query('update simulated.time set ahead = ahead + make_interval(hours => $1)', [
        hours,
      ]);
    },
    async today() {
      const [row] = await database.query<{ day: string }>(
        `select (simulated.clock_timestamp() at time zone 'UTC')::date::text as day`,
      );
      return row?.day ?? '';
    },
  };
}
