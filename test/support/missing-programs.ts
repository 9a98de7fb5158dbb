/** A reporter: the last line of a run names the tests that were skipped because a program is not installed, and how to get it. */
import type { Reporter, TestCase, TestModule } from 'vitest/node';
import { CHDB, HOW_TO_GET_CHDB, PACKAGES } from './tool.ts';

export default class MissingPrograms implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = modules.flatMap((module) => [...module.children.allTests('skipped')]);
    const lacking = skipped.flatMap((one) => {
      const programs = programsOf(one);
      return programs.length === 0 ? [] : [programs];
    });
    if (lacking.length === 0) return;
    const programs = new Set(lacking.flat());
    const fromNpm = programs.delete(CHDB) ? [`${CHDB}: ${HOW_TO_GET_CHDB}`] : [];
    const packages = [...new Set([...programs].map((program) => PACKAGES[program] ?? program))];
    const debian =
      packages.length === 0 ? [] : [`Debian: apt-get install ${packages.sort().join(' ')}`];
    console.info(
      `${lacking.length} tests were skipped, because programs are not installed that they use. ${[...debian, ...fromNpm].join('; ')}`,
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
