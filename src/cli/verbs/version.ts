/** `daywalk version`: of this program, and of what runs it. */
import { EXIT } from '../../errors.ts';
import { packageVersion } from '../package-version.ts';
import { print } from '../terminal/output.ts';

/** Prints the versions that a report of a fault should name. */
export async function version(): Promise<number> {
  print(`daywalk ${packageVersion()} on Node.js ${process.versions.node}`);
  return EXIT.done;
}
