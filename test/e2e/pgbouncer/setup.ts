/** Before the end-to-end suite: a PgBouncer between the program and the Postgres of the tests, and after it what went through. */
import type { TestProject } from 'vitest/node';
import { startPgBouncer } from '../../support/pgbouncer.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The port of a PgBouncer through which the program reaches its database; the tests themselves look directly. */
    pgbouncerPort?: number;
  }
}

/** A suite that did not pass through PgBouncer proves nothing. */
const LEAST_TRANSACTIONS = 1_000;

/** Runs after the setup that makes the template; what it returns runs after all tests. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { adminUrl, problem } = project.getProvidedContext().testServer;
  if (problem !== undefined) throw new Error(problem);
  const bouncer = await startPgBouncer(adminUrl);
  project.provide('pgbouncerPort', bouncer.port);
  return async () => {
    const { transactions, megabytes } = await bouncer.figures();
    await bouncer.stop();
    console.log(
      `Through PgBouncer in transaction mode: ${transactions} transactions, ${megabytes} MB`,
    );
    if (transactions < LEAST_TRANSACTIONS) {
      console.error(`fewer than ${LEAST_TRANSACTIONS}: the suite did not go through PgBouncer`);
      process.exitCode = 1;
    }
  };
}
