/** Completion for shells, as scripts that know every verb and option and start no daywalk. */
import { type ParsedVerb, verbsOf, type Word } from './command-line.ts';
import type { Shell, VerbRow } from './verb.ts';

/** The script; ends without a line break. */
export function completionScript(shell: Shell, table: readonly VerbRow[]): string {
  const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };
  return scripts[shell](verbsOf(table)).join('\n');
}

const wordsOf = ({ row, words }: ParsedVerb): string[] => [
  ...(row.argument?.argChoices ?? []),
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

/** That of bash, which zsh understands. */
const zshScript = (all: readonly ParsedVerb[]): string[] => [
  '# daywalk: source <(daywalk completion zsh), behind compinit',
  'autoload -U +X bashcompinit && bashcompinit',
  ...bashScript(all),
];

function fishScript(all: readonly ParsedVerb[]): string[] {
  const config = all[0]?.words.find(({ long }) => long === '--config');
  return [
    '# daywalk: daywalk completion fish | source',
    'complete -c daywalk -f',
    `complete -c daywalk -n __fish_use_subcommand -l config -r -F -d '${plain(config?.does ?? '')}'`,
    ...all.flatMap(({ row, words }) => [
      `complete -c daywalk -n __fish_use_subcommand -a ${row.name} -d '${plain(row.does)}'`,
      ...(row.argument?.argChoices ?? []).map(
        (word) => `complete -c daywalk -n '__fish_seen_subcommand_from ${row.name}' -a '${word}'`,
      ),
      ...words.map((word) => fishWord(row.name, word)),
    ]),
  ];
}

function fishWord(verb: string, { long, value, does, choices, isPath }: Word): string {
  const values = choices.length === 0 ? '' : ` -a '${choices.join(' ')}'`;
  const takes = value === '' ? '' : isPath ? ' -r -F' : ` -x${values}`;
  return `complete -c daywalk -n '__fish_seen_subcommand_from ${verb}' -l ${long.slice(2)}${takes} -d '${plain(does)}'`;
}

/** Text that no shell takes for anything else, between single quotes. */
const plain = (text: string): string => text.replaceAll("'", '’').replaceAll(/[`\\]/g, '');
