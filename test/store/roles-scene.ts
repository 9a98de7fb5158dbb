/** A database with the roles of docs/roles.md, and the program as one of them. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll } from 'vitest';
import { type Simulator, startSimulator } from '../../simulator/simulator.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { API_KEY, runProgram } from '../support/program.ts';

export const DAYS = { from: '2026-03-01', to: '2026-03-02' };
export const RANGE = ['--from', DAYS.from, '--to', DAYS.to];
export const DENIED = '42501';

const page = readFileSync(new URL('../../docs/roles.md', import.meta.url), 'utf8');

/** A simulated API, and a database in which roles are made for this file. */
export class Roles {
  readonly api: Simulator;
  readonly server: TestDatabase;
  readonly #made: string[] = [];

  private constructor(api: Simulator, server: TestDatabase) {
    this.api = api;
    this.server = server;
  }

  static async open(): Promise<Roles> {
    const api = await startSimulator({ key: API_KEY, seed: 'roles', eventsPerDay: 120 });
    return new Roles(api, await createTestDatabase());
  }

  /** The database as another role sees it. */
  urlOf(role: string, database: TestDatabase = this.server): string {
    const url = new URL(database.url);
    [url.username, url.password] = [role, 'of-the-test'];
    return url.href;
  }

  /** The statement of the page that gives these rights, with the name of this test. */
  async give(
    name: 'let_work' | 'let_move' | 'let_audit' | 'let_read',
    role: string,
  ): Promise<void> {
    const statement = page.match(new RegExp(`select daywalk\\.${name}\\('\\w+'\\)`))?.[0];
    if (statement === undefined) throw new Error(`docs/roles.md does not tell ${name}`);
    await this.server.query(statement.replace(/'\w+'/, `'${role}'`));
  }

  async newRole(what: string): Promise<string> {
    const role = `${this.server.name}_${what}`;
    await this.server.query(`create role ${role} login password 'of-the-test'`);
    this.#made.push(role);
    return role;
  }

  /** The program as this role. */
  run(role: string, args: readonly string[], more: Readonly<Record<string, string>> = {}) {
    return runProgram(args, {
      environment: {
        DAYWALK_API_URL: this.api.url,
        DAYWALK_API_KEY: API_KEY,
        DATABASE_URL: this.urlOf(role),
        DAYWALK_PAGE_LENGTH: '40',
        ...more,
      },
    });
  }

  async close(): Promise<void> {
    await this.api.close();
    for (const role of this.#made) {
      await this.server.query(`drop owned by ${role}`);
      await this.server.query(`drop role ${role}`);
    }
  }
}

/** For a test file: roles before all tests, gone after them. @param use gets them, and gives back what ends its use. */
export function rolesOfThisFile(use: (roles: Roles) => Promise<() => Promise<void>>): void {
  let roles: Roles;
  let end: () => Promise<void>;
  beforeAll(async () => {
    roles = await Roles.open();
    end = await use(roles);
  });
  afterAll(async () => {
    await end();
    await roles.close();
  });
}
