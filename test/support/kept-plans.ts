/** Connections that name their statements, so that Postgres reads and plans each of them once: half of what a short run costs it. */
import pg from 'pg';
import { Client } from '../../src/store/connection/connections.ts';
import { bySocket } from './database.ts';

/** What such connections call themselves. */
const KEPT = 'daywalk-kept-plans';
/** The names of statements, by their text. */
const names = new Map<string, string>();

/** The URL for connections that keep what they have planned. What they send and are answered is otherwise the same. */
export function keptPlans(url: string): string {
  const kept = new URL(url);
  kept.searchParams.set('application_name', KEPT);
  // By itself Postgres plans a statement five times, and one that a partition's name would make cheaper each time.
  kept.searchParams.set('options', '-c plan_cache_mode=force_generic_plan');
  return kept.href;
}

/** The same where nothing stands between, as PgBouncer may: it knows neither names of statements nor options. */
export function keptWhereDirect(url: string): string {
  const direct = bySocket(url);
  return direct === url ? url : keptPlans(direct);
}

function nameOf(text: string): string {
  const name = names.get(text) ?? `kept_${names.size}`;
  names.set(text, name);
  return name;
}

const { query } = pg.Client.prototype;
/** As `Database` calls it: a text, and its values. */
function namedQuery(this: pg.Client, ...given: [unknown, unknown, ...unknown[]]): unknown {
  const [text, values] = given;
  const { application_name: own } = (
    this as unknown as { connectionParameters: { application_name?: string } }
  ).connectionParameters;
  const named =
    own === KEPT && typeof text === 'string' && Array.isArray(values)
      ? [{ name: nameOf(text), text, values }, ...given.slice(2)]
      : given;
  return Reflect.apply(query, this, named);
}
Object.assign(Client.prototype, { query: namedQuery });
