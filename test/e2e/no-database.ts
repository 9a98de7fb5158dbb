/** Commands without a database, or with one that has no tables: they say what to set, and make nothing. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { createEmptyDatabase } from '../support/database.ts';
import { API_KEY, temporaryFolder } from '../support/program.ts';
import { runHere } from '../support/program-here.ts';

export const API = { DAYWALK_API_URL: 'http://127.0.0.1:1', DAYWALK_API_KEY: API_KEY };
export const RANGE = ['--from', '2026-03-01', '--to', '2026-03-02'];

export async function expectNoneMade(args: readonly string[]): Promise<void> {
  const folder = temporaryFolder();
  const ended = await runHere(args, { folder, environment: API });
  expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toMatch(/database\.url: is not set; .*DATABASE_URL.*--embedded/);
  expect(existsSync(join(folder, '.daywalk'))).toBe(false);
  expect(existsSync(join(folder, 'daywalk.yaml'))).toBe(false);
}

export async function expectNoTables(args: readonly string[]): Promise<void> {
  const database = await createEmptyDatabase();
  const environment = { ...API, DATABASE_URL: database.url };
  const ended = await runHere(args, { environment });
  expect(ended.stdout + ended.stderr).toMatch(
    /the database has no tables of daywalk[\s\S]*daywalk run/,
  );
  expect(ended.code).toBe(args[0] === 'doctor' ? 5 : 2);
  expect(await database.query(`select from pg_namespace where nspname = 'daywalk'`)).toEqual([]);
}
