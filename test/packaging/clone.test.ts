/** A fresh clone can be installed and checked: the lock file is whole, and .ci/run runs what README says. */
import { accessSync, constants, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandLines, paper, ROOT } from '../docs/markdown.ts';

interface LockEntry {
  readonly version?: string;
  readonly resolved?: string;
  readonly integrity?: string;
  readonly link?: boolean;
  readonly optional?: boolean;
  readonly dev?: boolean;
  readonly os?: readonly string[];
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const read = (path: string) => JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
const manifest = read('package.json');
const packages: Readonly<Record<string, LockEntry>> = read('package-lock.json').packages;
/** What npm downloads: neither this package nor those in packages/. */
const downloads = Object.entries(packages).filter(
  ([path, { link }]) => path.startsWith('node_modules/') && !link,
);

test('package-lock.json has an entry for each platform package that it names; npm ci refuses it otherwise', () => {
  const paths = Object.keys(packages);
  const missing = Object.values(packages)
    .flatMap((entry) => Object.entries(entry.optionalDependencies ?? {}))
    .filter(([name]) => !paths.some((path) => path.endsWith(`node_modules/${name}`)))
    .map(([name, version]) => `${name}@${version}`);
  expect(missing).toEqual([]);
});

test('package-lock.json belongs to package.json and names no place of download', () => {
  const { dependencies, devDependencies, optionalDependencies } = manifest;
  expect(packages['']).toMatchObject({ dependencies, devDependencies, optionalDependencies });
  expect(downloads.filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
  const workspace = 'packages/embedded-postgres';
  const { name, version, dependencies: own } = read(`${workspace}/package.json`);
  expect(packages[workspace]).toMatchObject({ name, version, dependencies: own });
  expect(optionalDependencies).toMatchObject({ [name]: version });
});

test('everything has a checksum, but for tools of developers on other platforms that SECURITY.md counts', () => {
  const without = downloads.filter(([, { integrity }]) => integrity === undefined);
  for (const [path, { os, dev, optional }] of without)
    expect({ path, foreign: os !== undefined, dev, optional }).toEqual({
      path,
      foreign: true,
      dev: true,
      optional: true,
    });
  expect(paper('SECURITY.md').text.replace(/\s+/g, ' ')).toContain(
    `${without.length} of the ${downloads.length} packages`,
  );
});

test('no install script runs in a clone, whatever npm', () => {
  const settings = readFileSync(join(ROOT, '.npmrc'), 'utf8').split('\n');
  expect(settings).toContain('ignore-scripts=true');
});

test('nothing that runs in production brings an install script', () => {
  const scripted = Object.entries(
    packages as Record<string, { hasInstallScript?: boolean; dev?: boolean; optional?: boolean }>,
  )
    .filter(([, entry]) => entry.hasInstallScript && !entry.dev && !entry.optional)
    .map(([path]) => path);
  expect(scripted).toEqual([]);
});

test(".ci/run is executable and ends with README's command that checks everything", () => {
  const path = join(ROOT, '.ci/run');
  accessSync(path, constants.X_OK);
  const last = readFileSync(path, 'utf8').trimEnd().split('\n').at(-1);
  expect(last).toBe(commandLines(paper('README.md'))[1]);
});
