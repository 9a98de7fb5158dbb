/** Completion for shells, as scripts that know every verb and option and start no daywalk. */
import { SETTINGS } from '../settings/table/table.ts';
import { type Word, wordsOf } from './command-line.ts';
import type { Shell, VerbRow } from './verb.ts';

/** The script; ends without a line break. */
export function completionScript(shell: Shell, table: readonly VerbRow[]): string {
  const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };
  return scripts[shell](table);
}

function bashScript(table: readonly VerbRow[]): string {
  const words = new Map(table.flatMap(wordsOf).map((word) => [word.long, word]));
  const values = [...words.values()].flatMap(({ long, value, choices, isPath }) => {
    if (value === '' || (choices.length === 0 && !isPath)) return [];
    const found = isPath ? '-f' : `-W '${choices.join(' ')}'`;
    return [`    ${long}) COMPREPLY=($(compgen ${found} -- "$cur")); return ;;`];
  });
  const offer = (verb: string, offered: readonly string[]) =>
    `    ${verb}) COMPREPLY=($(compgen -W '${offered.join(' ')}' -- "$cur")) ;;`;
  const verbs = table.map((row) => {
    const options = wordsOf(row).map(({ long }) => long);
    return offer(row.name, [
      ...(row.argument?.argChoices ?? []),
      ...options,
      '--help',
      '--help-all',
    ]);
  });
  return `# daywalk: source <(daywalk completion bash)
_daywalk() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} verb= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case \${COMP_WORDS[i]} in
      --config) ((i++)) ;;
      -*) ;;
      *) verb=\${COMP_WORDS[i]}; break ;;
    esac
  done
  case $prev in
${values.join('\n')}
  esac
  case $verb in
${offer("''", [...table.map(({ name }) => name), '--config', '--help', '--version'])}
${verbs.join('\n')}
  esac
}
complete -o bashdefault -F _daywalk daywalk`;
}

/** That of bash, which zsh understands. */
const zshScript = (table: readonly VerbRow[]): string =>
  `# daywalk: source <(daywalk completion zsh), behind compinit
autoload -U +X bashcompinit && bashcompinit
${bashScript(table)}`;

function fishScript(table: readonly VerbRow[]): string {
  const verbs = table.flatMap((row) => [
    `complete -c daywalk -n __fish_use_subcommand -a ${row.name} -d '${plain(row.does)}'`,
    ...(row.argument?.argChoices ?? []).map(
      (word) => `complete -c daywalk -n '__fish_seen_subcommand_from ${row.name}' -a '${word}'`,
    ),
    ...wordsOf(row).map((word) => fishWord(row.name, word)),
  ]);
  return `# daywalk: daywalk completion fish | source
complete -c daywalk -f
complete -c daywalk -n __fish_use_subcommand -l config -r -F -d '${plain(SETTINGS.config.description)}'
${verbs.join('\n')}`;
}

function fishWord(verb: string, { long, value, does, choices, isPath }: Word): string {
  const values = choices.length === 0 ? '' : ` -a '${choices.join(' ')}'`;
  const takes = value === '' ? '' : isPath ? ' -r -F' : ` -x${values}`;
  return `complete -c daywalk -n '__fish_seen_subcommand_from ${verb}' -l ${long.slice(2)}${takes} -d '${plain(does)}'`;
}

/** Text that no shell takes for anything else, between single quotes. */
const plain = (text: string): string => text.replaceAll("'", '’').replaceAll(/[`\\]/g, '');
