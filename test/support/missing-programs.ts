/** A reporter: the last line of a run names the tests that were skipped because a program is not installed, and how to get it. */
import type { Reporter, TestCase, TestModule } from 'vitest/node';
import { PACKAGES } from './tool.ts';

export default class MissingPrograms implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = modules.flatMap((module) => [...module.children.allTests('skipped')]);
    const lacking = skipped.flatMap((one) => {
      const programs = programsOf(one);
      return programs.length === 0 ? [] : [programs];
    });
    if (lacking.length === 0) return;
    const packages = [...new Set(lacking.flat().map((program) => PACKAGES[program] ?? program))];
    console.info(
      `${lacking.length} tests were skipped, because programs are not installed that they use. Debian: apt-get install ${packages.sort().join(' ')}`,
    );
  }
}

/** The programs that the name of a test or of the group around it says are not installed. */
function programsOf({ fullName }: TestCase): string[] {
  const said = /([a-z][a-z, -]*?) (?:is |are )?not installed/.exec(fullName)?.[1] ?? '';
  return said
    .replace(/^skipped: /, '')
    .split(', ')
    .filter((name) => name !== '');
}
