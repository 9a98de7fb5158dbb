/** What npm says that it packs. */
import { expect } from 'vitest';

interface Packed {
  readonly name: string;
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

/** As CONTRIBUTING.md tells it. */
export const PACK = ['pack', '--workspaces', '--include-workspace-root', '--ignore-scripts=false'];

/** The two packages in what `npm pack --json` prints, whatever scripts say before it. */
export function packedIn(stdout: string): Packed[] {
  const packed: Packed[] = JSON.parse(stdout.slice(stdout.indexOf('[\n')));
  expect(packed.map(({ name }) => name).sort()).toEqual(['@daywalk/embedded-postgres', 'daywalk']);
  return packed;
}

/** What every package has, and no source, no hidden file and nothing of a build. */
export function expectWhole(files: Packed['files']): void {
  const paths = files.map(({ path }) => path);
  expect(paths).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'package.json']));
  expect(paths.filter((path) => /(^|\/)\.|tsbuildinfo|(?<!\.d)\.ts$/.test(path))).toEqual([]);
}
