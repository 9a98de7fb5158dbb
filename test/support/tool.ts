/** Programs of Debian packages that some tests need; where one is absent the test is skipped and says why, or fails if TEST_ALL_PROGRAMS=1. */
import { execFileSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { expect, type TestFunction, test } from 'vitest';

/** Where Debian keeps what is not in PATH for everybody. */
const MORE_FOLDERS = ['/usr/sbin', '/usr/lib/postgresql/15/bin'];

/** The Debian packages of the programs. */
export const PACKAGES: Readonly<Record<string, string>> = {
  ceph: 'ceph-common',
  'ceph-mon': 'ceph-mon',
  'ceph-osd': 'ceph-osd',
  chromium: 'chromium',
  haproxy: 'haproxy',
  monmaptool: 'ceph-base',
  nginx: 'nginx-light',
  openssl: 'openssl',
  pgbouncer: 'pgbouncer',
  prometheus: 'prometheus',
  promtool: 'prometheus',
  radosgw: 'radosgw',
  'radosgw-admin': 'ceph-common',
  squid: 'squid',
  'systemd-analyze': 'systemd',
  tinyproxy: 'tinyproxy',
};

/** ClickHouse as a library takes half a gigabyte, so that it is no dependency. */
export const CHDB = 'chdb';
export const HOW_TO_GET_CHDB =
  'npm install --prefix FOLDER chdb@3.4.0, and CHDB_FOLDER=FOLDER in the environment';

/** The path of an installed program, or undefined. */
export function pathOf(program: string): string | undefined {
  const folders = [...(process.env.PATH ?? '').split(':'), ...MORE_FOLDERS];
  return folders
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, program))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/** The path of a program that must be there. */
export function tool(program: string): string {
  const path = pathOf(program);
  if (path === undefined) throw new Error(`${program} is not installed`);
  return path;
}

/** A test that needs programs. */
export function testWith(
  programs: readonly string[],
  name: string,
  body: TestFunction,
  timeout?: number,
): void {
  const missing = programs.filter((program) => pathOf(program) === undefined);
  if (missing.length === 0) test(name, body, timeout);
  else if (process.env.TEST_ALL_PROGRAMS === '1')
    test(name, () => expect(missing, 'programs that are not installed').toEqual([]));
  else test.skip(`${name} [skipped: ${missing.join(', ')} not installed]`);
}

/** Who a server runs as that root may not run. */
export interface PlainUser {
  readonly uid: number;
  readonly gid: number;
}

/** The user `postgres` where this process is root, else undefined: who this process is. */
export function plainUser(): PlainUser | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const id = (what: string) => Number(execFileSync('id', [what, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}
