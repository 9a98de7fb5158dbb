/** What may be typed behind `daywalk`: the verbs and the words of each, made from the tables of verbs and settings; completion and the man page come from it. */
import type { Kind } from '../settings/table/setting.ts';
import { ROWS } from '../settings/table/table.ts';
import type { VerbRow } from './verb.ts';

/** An option of a verb. */
export interface Word {
  /** `--page-length` */
  readonly long: string;
  /** `<n>`; empty: it takes no value. */
  readonly value: string;
  readonly does: string;
  /** The values that it takes, where they are few. */
  readonly choices: readonly string[];
  /** Its value is a file or a folder. */
  readonly isPath: boolean;
}

/** All options of a verb. */
export const wordsOf = (row: VerbRow): Word[] => [...ownWords(row), ...settingWords(row)];

/** The options that are no settings. */
export function ownWords({ options = [] }: VerbRow): Word[] {
  return options.map(({ long, flags, description, argChoices = [] }) => {
    const value = /<[^>]+>/.exec(flags)?.[0] ?? '';
    const isPath = value === '<folder>';
    return { long: long ?? flags, value, does: description, choices: argChoices, isPath };
  });
}

function settingWords({ settings }: VerbRow): Word[] {
  return ROWS.flatMap((row) => {
    if (row.flag === null || !settings.includes(row.group)) return [];
    const { flag: long, placeholder: value, description: does, kind } = row;
    const isPath = kind.kind === 'path';
    return [{ long, value, does, choices: choicesOf(kind), isPath }];
  });
}

function choicesOf(kind: Kind): readonly string[] {
  if (kind.kind === 'choice') return kind.choices;
  return kind.kind === 'boolean' ? ['yes', 'no'] : [];
}
