/** The results as a table: on stdout while one works, and as docs/torture.md. */
import { FAMILIES } from './cases.ts';
import type { Result } from './families.ts';
import { tellExpected, tellOutcome } from './verdict.ts';

const LONGEST_CELL = 160;

const cell = (text: string) => {
  const line = text
    .replace(/\s+/g, ' ')
    .replaceAll('|', '\\|')
    .replaceAll('<', '&lt;')
    .replace(/127\.0\.0\.1:\d+/g, 'the API');
  return line.length > LONGEST_CELL ? `${line.slice(0, LONGEST_CELL)} …` : line;
};

const ratio = ({ plain }: Result) => (plain.requests / Math.max(1, plain.leastRequests)).toFixed(2);

/** Prints one line for each case, worst last. */
export function printResults(results: readonly Result[], seconds: number, seed: number): void {
  const ordered = [...results].sort((one, other) => one.problems.length - other.problems.length);
  for (const result of ordered) {
    const { family, name, plain, killed, problems } = result;
    const kills = killed === null ? 'not killed' : `${killed.kills} kills ${tellOutcome(killed)}`;
    console.log(
      `${problems.length === 0 ? 'ok  ' : 'FAIL'} ${family}: ${name} | ${tellOutcome(plain).slice(0, 200)} | ${kills.slice(0, 200)} | ` +
        `${plain.requests}/${plain.leastRequests} requests ${ratio(result)} | ${plain.ms} + ${killed?.ms ?? 0} ms`,
    );
    for (const problem of problems) console.log(`       ${problem}`);
  }
  const bad = results.filter((result) => result.problems.length > 0).length;
  console.log(`${results.length} cases, ${bad} not as expected, seed ${seed}, ${seconds} s`);
}

/** The page. */
export function tableOf(results: readonly Result[], seconds: number, seed: number): string {
  const byName = new Map(results.map((result) => [result.name, result]));
  const bad = results.filter((result) => result.problems.length > 0).length;
  const parts = Object.entries(FAMILIES).map(([family, cases]) => {
    const rows = cases.flatMap((testCase) => {
      const result = byName.get(testCase.name);
      if (result === undefined) return [];
      const { plain, killed } = result;
      const cells = [
        testCase.name,
        testCase.server,
        tellExpected(testCase.expect),
        `${result.problems.length === 0 ? '' : '**not as expected** '}${tellOutcome(plain)}`,
        killed === null ? 'not killed' : `${tellOutcome(killed)} (${killed.kills} kills)`,
        String(plain.requests),
        String(plain.leastRequests),
        ratio(result),
      ];
      return [`| ${cells.map(cell).join(' | ')} |`];
    });
    return [
      `## ${family}`,
      '',
      '| case | what the server does | expected | without kills | with kills | requests | least | ratio |',
      '|---|---|---|---|---|---:|---:|---:|',
      ...rows,
      '',
    ].join('\n');
  });
  return [
    '# Torture',
    '',
    'Written by `npm run torture`; not by hand. Every case is a server that misbehaves in one way. It is exported once',
    'without disturbance and once by workers that are killed at moments drawn from a seed, until a run ends. Exact means',
    'that `daywalk.events_now` holds, as a multiset of `jsonb` texts, what the server holds in the days, to their last',
    'fraction of a second. After every trial: no day is complete that lacks a record, what was shown is still shown, every',
    'chain of pages is unbroken, every gap has its reason, every lease is given back. The least possible number of requests',
    'is that of full pages, one for an empty day; it leaves out cuts, probes and everything that the fault itself costs.',
    '',
    `${results.length} cases, ${bad} not as expected; seed ${seed}; ${seconds} s.`,
    '',
    ...parts,
  ].join('\n');
}
