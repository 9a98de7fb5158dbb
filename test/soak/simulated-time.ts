/** A database whose clock can be moved on: an unqualified `clock_timestamp()` finds ours before that of Postgres. */
import { migrate } from '../../src/store/migrations.ts';
import { createEmptyDatabase, type TestDatabase } from '../support/database.ts';

/** A database with the schema in it, in a time of its own. */
export interface SimulatedTime {
  readonly database: TestDatabase;
  /** Moves the clock of the database on. */
  advance(hours: number): Promise<void>;
  /** The day that it is in the database, in a time zone. */
  today(timeZone: string): Promise<string>;
}

/**
 * Makes the database, in which it is `start` now; its schema is migrated under the moved clock, so that defaults and views
 * use it as well.
 */
export async function createSimulatedTime(start: string): Promise<SimulatedTime> {
  const database = await createEmptyDatabase();
  // Days pass in seconds: what autovacuum does once a minute is done as often.
  await database.query('alter system set autovacuum_naptime = 1');
  await database.query('select pg_reload_conf()');
  await database.query('create schema simulated');
  await database.query('create table simulated.time (ahead interval not null)');
  await database.query(
    'insert into simulated.time values ($1::timestamptz - pg_catalog.clock_timestamp())',
    [start],
  );
  for (const name of ['clock_timestamp', 'now'])
    await database.query(
      `create function simulated.${name}() returns timestamptz language plpgsql volatile as
       $$ begin return pg_catalog.clock_timestamp() + (select ahead from simulated.time); end $$`,
    );
  await database.query(
    `alter database ${database.name} set search_path = simulated, pg_catalog, public`,
  );
  await migrate(database.url);
  await moveFunctions(database);
  return {
    database,
    async advance(hours) {
      await database.query('update simulated.time set ahead = ahead + make_interval(hours => $1)', [
        hours,
      ]);
    },
    async today(timeZone) {
      const [row] = await database.query<{ day: string }>(
        'select (simulated.clock_timestamp() at time zone $1)::date::text as day',
        [timeZone],
      );
      return row?.day ?? '';
    },
  };
}

/** The functions of the schema have a search path of their own, in which the clock is that of Postgres. */
async function moveFunctions(database: TestDatabase): Promise<void> {
  const functions = await database.query<{ name: string }>(
    `select oid::regprocedure::text as name from pg_proc
      where pronamespace = 'daywalk'::regnamespace and proconfig @> '{"search_path=pg_catalog, pg_temp"}'`,
  );
  for (const { name } of functions)
    await database.query(`alter routine ${name} set search_path = simulated, pg_catalog, pg_temp`);
}
