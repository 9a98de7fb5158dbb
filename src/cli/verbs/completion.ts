/** `daywalk completion`: scripts for shells that know every verb and option, and start no daywalk. */
import { Option } from 'commander';
import { EXIT } from '../../errors.ts';
import { ROWS, SETTINGS } from '../../settings/table/table.ts';
import { print } from '../terminal/output.ts';
import type { Shell, Verb, VerbRow } from '../verb.ts';

/** The verb, which prints the script of a shell for these verbs. */
export function completionOf(table: readonly VerbRow[]): Verb {
  return async ({ options }) => {
    print(completionScript(options.shell as Shell, table).split('\n'));
    return EXIT.done;
  };
}

/** The script; ends without a line break. */
export function completionScript(shell: Shell, table: readonly VerbRow[]): string {
  const scripts = { bash: bashScript, zsh: zshScript, fish: fishScript };
  return scripts[shell](table);
}

function bashScript(table: readonly VerbRow[]): string {
  const options = new Map(table.flatMap(optionsOf).map((option) => [option.long, option]));
  const values = [...options.values()].flatMap((option) => {
    const { long, required, argChoices = [] } = option;
    if (!required || (argChoices.length === 0 && !isPath(option))) return [];
    const found = isPath(option) ? '-f' : `-W '${argChoices.join(' ')}'`;
    return [`    ${long}) COMPREPLY=($(compgen ${found} -- "$cur")); return ;;`];
  });
  const offer = (verb: string, offered: readonly string[]) =>
    `    ${verb}) COMPREPLY=($(compgen -W '${offered.join(' ')}' -- "$cur")) ;;`;
  const verbs = table.map((row) => {
    const flags = optionsOf(row).map(({ long = '' }) => long);
    return offer(row.name, [...(row.argument?.argChoices ?? []), ...flags, '--help', '--help-all']);
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
    ...optionsOf(row).map((option) => fishOption(row.name, option)),
  ]);
  return `# daywalk: daywalk completion fish | source
complete -c daywalk -f
complete -c daywalk -n __fish_use_subcommand -l config -r -F -d '${plain(SETTINGS.config.description)}'
${verbs.join('\n')}`;
}

function fishOption(verb: string, option: Option): string {
  const { long = '', required, argChoices, description } = option;
  const values = argChoices === undefined ? '' : ` -a '${argChoices.join(' ')}'`;
  const takes = required ? (isPath(option) ? ' -r -F' : ` -x${values}`) : '';
  return `complete -c daywalk -n '__fish_seen_subcommand_from ${verb}' -l ${long.slice(2)}${takes} -d '${plain(description)}'`;
}

/** The options of a verb: its own, and those of the settings that it obeys, with the values that they take. */
function optionsOf({ options = [], settings }: VerbRow): readonly Option[] {
  const obeyed = ROWS.flatMap(({ flag, placeholder, description, group, kind }) => {
    if (flag === null || !settings.includes(group)) return [];
    const option = new Option(`${flag} ${placeholder}`, description);
    if (kind.kind === 'choice') option.choices(kind.choices);
    if (kind.kind === 'boolean') option.choices(['yes', 'no']);
    return [option];
  });
  return [...options, ...obeyed];
}

const isPath = ({ flags }: Option): boolean => /<(file|folder|directory)>/.test(flags);

/** Text that no shell takes for anything else, between single quotes. */
const plain = (text: string): string => text.replaceAll("'", '’').replaceAll(/[`\\]/g, '');
