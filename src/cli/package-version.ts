/** The version of the package that this file is a part of. */
import { createRequire } from 'node:module';

/** As in `package.json`. */
export const packageVersion = (): string =>
  createRequire(import.meta.url)('../../package.json').version;
