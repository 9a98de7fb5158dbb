/** An examination: findings, each with what to do where something is to be done, and the exit code that follows from them. */
import { styleText } from 'node:util';
import { DaywalkError, EXIT, exitCodeOf } from '../../errors.ts';
import { OlderDatabaseError } from '../../store/migrations.ts';
import { printable } from '../../text.ts';
import { redactor } from '../process-redactor.ts';

/** One line of the doctor. */
export interface Finding {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'bad' | 'skipped';
  readonly found: string;
  /** What to do, where something is to be done. */
  readonly remedy: string | null;
}

/** Collects findings; what throws is a bad one. */
export class Examination {
  readonly findings: Finding[] = [];
  /** Paths that look like an identity, by the name of the stream; null: what is named like one is none for sure. */
  readonly identities = new Map<string, readonly string[] | null>();
  /** Paths that look like the time of an event, by the name of the stream. */
  readonly times = new Map<string, readonly string[]>();
  /** The longest page that was given, by the name of the stream. */
  readonly lengths = new Map<string, number>();
  /** Records of a first page, by the name of the stream. */
  readonly records = new Map<string, readonly unknown[]>();
  exitCode: number = EXIT.done;

  readonly ok = (check: string, found: string, remedy?: string): void =>
    this.#note(check, 'ok', found, remedy);
  readonly warn = (check: string, found: string, remedy?: string): void =>
    this.#note(check, 'warning', found, remedy);
  readonly skip = (check: string, found: string): void => this.#note(check, 'skipped', found);

  /** Does a piece of the work; undefined where it threw, and that is a finding. */
  async look<T>(check: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof DaywalkError)) throw error;
      // A run makes them by itself.
      const isBad = !(error instanceof OlderDatabaseError);
      this.#note(check, isBad ? 'bad' : 'warning', redactor.redact(error.message), error.hint);
      // No window failed here: an answer that is no page is a matter of the settings.
      const code = exitCodeOf(error);
      if (isBad && this.exitCode === EXIT.done)
        this.exitCode = code === EXIT.gaps ? EXIT.settings : code;
      return undefined;
    }
  }

  #note(check: string, state: Finding['state'], found: string, remedy: string | null = null): void {
    this.findings.push({ check, state, found, remedy });
  }
}

const MARKS = {
  ok: ['✓', 'green'],
  warning: ['!', 'yellow'],
  bad: ['✗', 'red'],
  skipped: ['-', 'gray'],
} as const;

/** The findings, a line each, the remedy below; foreign text in them is made printable. */
export function describeFindings(findings: readonly Finding[]): string[] {
  const width = Math.max(...findings.map(({ check }) => check.length));
  return findings.flatMap(({ check, state, found, remedy }) => {
    const [mark, colour] = MARKS[state];
    return [
      `${styleText(colour, mark)} ${check.padEnd(width)}  ${printable(found)}`,
      ...(remedy === null ? [] : [`  ${' '.repeat(width)}  → ${printable(remedy)}`]),
    ];
  });
}
