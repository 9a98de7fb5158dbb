/** Completion for shells, as scripts that know every verb and option and start no daywalk. */
import { type ParsedVerb, verbsOf, type Word } from './command-line.ts';
import type { VerbRow } from './verb.ts';

/** The shells that there is a script for. */
export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** The script; ends without a line break. */
export function completionScript(shell: Shell, table: readonly VerbRow[]): string {
  return SCRIPTS[shell](verbsOf(table)).join('\n');
}

const SCRIPTS: Readonly<Record<Shell, (all: readonly ParsedVerb[]) => string[]>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

const wordsOf = ({ row, words }: ParsedVerb): string[] => [
  ...(row.argumentChoices ?? []),
  ...words.map(({ long }) => long),
  '--help',
  '--help-all',
];

function bashScript(all: readonly ParsedVerb[]): string[] {
  const values = new Map(
    all.flatMap(({ words }) => words).map((word) => [word.long, word] as const),
  );
  const lines = [...values.values()].flatMap((word) => {
    if (word.value === '' || (word.choices.length === 0 && !word.isPath)) return [];
    const found = word.isPath ? '-f' : `-W '${word.choices.join(' ')}'`;
    return [`    ${word.long}) COMPREPLY=($(compgen ${found} -- "$cur")); return ;;`];
  });
  return [
    '# daywalk: source <(daywalk completion bash)',
    '_daywalk() {',
    `  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} verb= i`,
    '  for ((i = 1; i < COMP_CWORD; i++)); do',
    `    case \${COMP_WORDS[i]} in`,
    '      --config) ((i++)) ;;',
    '      -*) ;;',
    `      *) verb=\${COMP_WORDS[i]}; break ;;`,
    '    esac',
    '  done',
    '  case $prev in',
    ...lines,
    '  esac',
    '  case $verb in',
    `    '') COMPREPLY=($(compgen -W '${all.map(({ row }) => row.name).join(' ')} --config --help --version' -- "$cur")) ;;`,
    ...all.map(
      (verb) =>
        `    ${verb.row.name}) COMPREPLY=($(compgen -W '${wordsOf(verb).join(' ')}' -- "$cur")) ;;`,
    ),
    '  esac',
    '}',
    'complete -o bashdefault -F _daywalk daywalk',
  ];
}

function zshScript(all: readonly ParsedVerb[]): string[] {
  return [
    '#compdef daywalk',
    '# daywalk: source <(daywalk completion zsh), behind compinit',
    '_daywalk() {',
    '  local -a verbs',
    '  verbs=(',
    ...all.map(({ row }) => `    '${row.name}:${plain(row.does)}'`),
    '  )',
    '  local state line',
    `  _arguments -C '--config[${plain(configOf(all)?.does ?? '')}]:file:_files' '--help[help]' '--version[the version]' '1: :->verb' '*:: :->rest'`,
    '  case $state in',
    "    verb) _describe 'verb' verbs ;;",
    '    rest)',
    '      case $words[1] in',
    ...all.map(
      ({ row, words }) =>
        `        ${row.name}) _arguments ${[
          ...words.map(zshWord),
          "'--help[help]'",
          "'--help-all[help, with every setting]'",
          ...(row.argument === undefined
            ? []
            : [`'1:${row.argument}:(${(row.argumentChoices ?? []).join(' ')})'`]),
        ].join(' ')} ;;`,
    ),
    '      esac ;;',
    '  esac',
    '}',
    'compdef _daywalk daywalk',
  ];
}

function zshWord({ long, value, does, choices, isPath }: Word): string {
  const about = `${long}[${plain(does)}]`;
  if (value === '') return `'${about}'`;
  const values = isPath ? '_files' : choices.length === 0 ? ' ' : `(${choices.join(' ')})`;
  return `'${about}:${value.replaceAll(/[<>:]/g, '')}:${values}'`;
}

function fishScript(all: readonly ParsedVerb[]): string[] {
  const config = configOf(all);
  return [
    '# daywalk: daywalk completion fish | source',
    'complete -c daywalk -f',
    `complete -c daywalk -n __fish_use_subcommand -l config -r -F -d '${plain(config?.does ?? '')}'`,
    ...all.flatMap(({ row, words }) => [
      `complete -c daywalk -n __fish_use_subcommand -a ${row.name} -d '${plain(row.does)}'`,
      ...(row.argumentChoices === undefined
        ? []
        : [
            `complete -c daywalk -n '__fish_seen_subcommand_from ${row.name}' -a '${row.argumentChoices.join(' ')}'`,
          ]),
      ...words.map((word) => fishWord(row.name, word)),
    ]),
  ];
}

function fishWord(verb: string, { long, value, does, choices, isPath }: Word): string {
  const takes =
    value === ''
      ? ''
      : isPath
        ? ' -r -F'
        : choices.length === 0
          ? ' -x'
          : ` -x -a '${choices.join(' ')}'`;
  return `complete -c daywalk -n '__fish_seen_subcommand_from ${verb}' -l ${long.slice(2)}${takes} -d '${plain(does)}'`;
}

const configOf = ([verb]: readonly ParsedVerb[]): Word | undefined =>
  verb?.words.find(({ long }) => long === '--config');

/** Text that no shell takes for anything else, between single quotes. */
const plain = (text: string): string =>
  text
    .replaceAll("'", '’')
    .replaceAll(/[`\\]/g, '')
    .replaceAll(/[[\]:]/g, ' ')
    .replaceAll('  ', ' ');
