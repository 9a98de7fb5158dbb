/** The rules of the parts, each with its reason, as functions over source texts. */
import { posix } from 'node:path';
import { importsOf, lineAt, type Scanned, scan } from './scan.ts';

/** A source file: its path from the repository's root, and its text. */
export interface Source {
  readonly path: string;
  readonly text: string;
}

interface File extends Source {
  readonly scanned: Scanned;
}

/** Where a rule is broken. */
export interface Violation {
  readonly path: string;
  readonly line: number;
  readonly found: string;
  readonly reason: string;
}

const LEAVES = [
  'model',
  'errors',
  'clock',
  'log',
  'text',
  'hosts',
  'redactor',
  'answer',
  'listener',
  'rooted-files',
  'written',
  'parquet',
];
const CORE = ['plan', 'source', 'store', 'walk'];
const ROOMS = [
  'ledger',
  'tables',
  'files',
  'archive',
  'retention',
  'tier',
  'notify',
  'status-page',
];

interface Row {
  readonly imports: readonly string[];
  readonly reason: string;
}

/** Which parts a part may import besides itself, and why no others. */
const PARTS: Record<string, Row> = {
  model: { imports: [], reason: 'the nouns stand on nothing' },
  errors: { imports: [], reason: 'errors are a leaf: everything may throw them' },
  clock: { imports: [], reason: 'the clock is a leaf: everything may wait' },
  log: {
    imports: ['errors', 'redactor', 'text'],
    reason: 'the log is a leaf, and knows only what errors and text look like',
  },
  text: { imports: [], reason: 'text for people is a leaf' },
  hosts: {
    imports: [],
    reason: 'settings check the hosts of a database URL, the store goes to them',
  },
  redactor: { imports: ['spellings', 'text'], reason: 'everything that shows text redacts it' },
  spellings: { imports: [], reason: 'only the redactor knows how secrets are spelled' },
  answer: { imports: [], reason: 'an answer on HTTP is a leaf' },
  listener: {
    imports: ['answer', 'clock', 'errors', 'log'],
    reason: 'the listener is one for all who serve, and knows none of them',
  },
  'rooted-files': {
    imports: ['errors'],
    reason: 'files and tier both write where others may write, too; neither knows the other',
  },
  written: { imports: [], reason: 'what was written of a day is told alike by every format' },
  parquet: {
    imports: ['written'],
    reason: 'Parquet is one for all who write and read it, and knows no rows of theirs',
  },
  settings: sibling(LEAVES),
  plan: { imports: ['model', 'errors'], reason: 'the planner is a pure function of values' },
  source: sibling(LEAVES),
  store: sibling(LEAVES),
  walk: {
    imports: [...LEAVES, 'plan', 'source', 'store'],
    reason: 'the walk is where plan, source and store meet; the core knows no room and no settings',
  },
  days: room([...LEAVES, ...CORE]),
  ...Object.fromEntries(ROOMS.map((name) => [name, room([...LEAVES, ...CORE, 'days'])])),
  cli: {
    imports: [...LEAVES, 'settings', ...CORE, 'days', ...ROOMS],
    reason: 'the verbs are called by main and do not know it',
  },
  main: {
    imports: [...LEAVES, 'settings', ...CORE, 'days', ...ROOMS, 'cli'],
    reason: 'the program ships without the simulator',
  },
};

function sibling(imports: readonly string[]): Row {
  return {
    imports,
    reason:
      'settings, plan, source and store never import each other, so that each can be read, tested and replaced alone',
  };
}

function room(imports: readonly string[]): Row {
  return {
    imports,
    reason:
      'a room imports the core and days; other rooms and the settings reach it through its wiring in cli',
  };
}

/** Imports that are there against the table, `from file -> to file`; only ever taken away. */
export const EXCEPTIONS: readonly string[] = [
  'src/days/status.ts -> src/ledger/rows.ts',
  'src/notify/notifier.ts -> src/settings/settings.ts',
  'src/retention/prune.ts -> src/files/folder.ts',
  'src/retention/prune.ts -> src/files/manifest.ts',
  'src/status-page/status-server.ts -> src/settings/problems.ts',
  'src/status-page/status-server.ts -> src/settings/values/time.ts',
  'src/tables/fields.ts -> src/files/rows.ts',
  'src/walk/run.ts -> src/days/coverage-rows.ts',
];

/** `src/store/pages.ts` is of the part `store`, `src/log.ts` of `log`, all below `simulator/` of `simulator`. */
function partOf(path: string): string {
  const [top = '', next = ''] = path.split('/');
  return top === 'src' ? next.replace(/\.ts$/, '') : top;
}

function violation(file: File, at: number, found: string, reason: string): Violation {
  return { path: file.path, line: lineAt(file.text, at), found, reason };
}

/** The imports of our own files, with the paths that they lead to. */
function ownImports(file: File): { readonly at: number; readonly to: string }[] {
  return importsOf(file.scanned).flatMap(({ at, from }) =>
    from?.startsWith('.') ? [{ at, to: posix.join(posix.dirname(file.path), from) }] : [],
  );
}

/** Every import against the table, the exceptions too. */
function forbiddenImports(files: readonly File[]): (Violation & { readonly arrow: string })[] {
  return files.flatMap((file) => {
    const part = partOf(file.path);
    const row = part === 'simulator' ? SIMULATOR : PARTS[part];
    const arrow = `${file.path} -> no part`;
    if (!row)
      return [{ ...violation(file, 0, `the part ${part}`, 'the table has no such part'), arrow }];
    return ownImports(file).flatMap(({ at, to }) => {
      const target = partOf(to);
      if (target === part || row.imports.includes(target)) return [];
      const found = violation(file, at, `${part} imports ${to}`, row.reason);
      return [{ ...found, arrow: `${file.path} -> ${to}` }];
    });
  });
}

function importTable(files: readonly File[]): Violation[] {
  return forbiddenImports(files)
    .filter(({ arrow }) => !EXCEPTIONS.includes(arrow))
    .map(({ arrow: _, ...found }) => found);
}

const SIMULATOR = {
  imports: [],
  reason:
    'the simulator and the program are written from docs/api-contract.md, so that no mistake is in both',
};

function readableImports(files: readonly File[]): Violation[] {
  return files.flatMap((file) =>
    importsOf(file.scanned).flatMap(({ at, from }) => {
      const reason = 'what is imported must be seen without running it';
      if (from === null)
        return [violation(file, at, 'an import that is not one plain string', reason)];
      if (!from.startsWith('.') || /\.(ts|json)$/.test(from)) return [];
      return [violation(file, at, from, 'relative imports end in .ts, as Node resolves them')];
    }),
  );
}

/** Each cycle of files, or of what `nodeOf` puts together, once, told at the import that closes it. */
function cycles(
  nodeOf: (path: string) => string,
  reason: string,
): (files: readonly File[]) => Violation[] {
  return (files) => {
    const arrows = new Map<string, { file: File; at: number; to: string }[]>();
    for (const { path } of files) arrows.set(nodeOf(path), []);
    for (const file of files)
      for (const { at, to } of ownImports(file)) {
        const [node, target] = [nodeOf(file.path), nodeOf(to)];
        if (to === file.path || node !== target) arrows.get(node)?.push({ file, at, to: target });
      }
    const done = new Set<string>();
    const found: Violation[] = [];
    const visit = (node: string, way: readonly string[]): void => {
      for (const { file, at, to } of arrows.get(node) ?? []) {
        const start = way.indexOf(to);
        if (start >= 0)
          found.push(violation(file, at, [...way.slice(start), to].join(' → '), reason));
        else if (arrows.has(to) && !done.has(to)) visit(to, [...way, to]);
      }
      done.add(node);
    };
    for (const node of arrows.keys()) if (!done.has(node)) visit(node, [node]);
    return found;
  };
}

/** A folder inside a part is one node; what lies beside it in the part is a node of its own. */
const folderOf = (path: string): string => path.split('/').slice(0, 3).join('/');

/** Something that may only stand in one place of src. */
interface Home {
  readonly pattern: RegExp;
  /** Modules that would give the same under another name. */
  readonly module?: RegExp;
  readonly home: (path: string) => boolean;
  readonly reason: string;
}

const CLOCK_OR_CHANCE: Home = {
  pattern:
    /(?:(?<!\.)|\bglobalThis\.)\bset(?:Timeout|Interval)\b|\b(?:Date|Temporal)\.[nN]ow\b|\bnew Date\b(?!\s*\(\s*[^\s)])|\bperformance\.now\b|\bprocess\.(?:hrtime|uptime)\b|\bMath\.random\b|\brandomUUID\b|\bAbortSignal\.timeout\b/g,
  module: /^(?:node:)?(?:timers(?:\/promises)?|perf_hooks)$/,
  home: (path) => path === 'src/clock.ts',
  reason: 'time and chance come from src/clock.ts, so that tests can hold them',
};
const ENVIRONMENT: Home = {
  pattern: /\bprocess\s*(?:\??\.\s*env\b|\[)|\}\s*=\s*process\b(?!\s*\.)/g,
  module: /^(?:node:)?process$/,
  home: (path) => path.startsWith('src/settings/'),
  reason: 'settings come from one place, src/settings/, where all of them are checked',
};
const EXIT: Home = {
  pattern: /\bprocess\.(?:exit|abort|reallyExit)\s*\(/g,
  home: (path) => path === 'src/main.ts',
  reason: 'only src/main.ts ends the process, when everything is closed and the log is flushed',
};
const STDOUT: Home = {
  pattern: /\bprocess\.stdout\b|\bconsole\.(?:log|info|debug|table|dir|group)\b/g,
  home: (path) => path.startsWith('src/cli/') || path === 'src/main.ts',
  reason: 'stdout is for the results of commands, and for programs that read them',
};

function outOfHome({
  pattern,
  module,
  home,
  reason,
}: Home): (files: readonly File[]) => Violation[] {
  return (files) =>
    files
      .filter(({ path }) => path.startsWith('src/') && !home(path))
      .flatMap((file) => [
        ...[...file.scanned.code.matchAll(pattern)].map(({ index, 0: found }) =>
          violation(file, index, found, reason),
        ),
        ...importsOf(file.scanned)
          .filter(({ from }) => from !== null && module?.test(from))
          .map(({ at, from }) => violation(file, at, `an import of ${from}`, reason)),
      ]);
}

/** A statement, in lower case as our SQL is, or all in upper case. */
const SQL =
  /\binsert into\s+(?:[\w."$]|$)|\bdelete from\s+(?:[\w."$]|$)|\bselect\b[^;]*?\sfrom\s+(?:[\w."$(]|$)|\bupdate\s+[\w."$]+\s+(?:as\s+\w+\s+)?set\b|\b(?:create|alter|drop)\s+(?:table|schema|index|view|role|database)\b|^\s*select\s+[\w.]+(?:\(|$)/;
const UPPER_SQL =
  /\bINSERT INTO\b|\bDELETE FROM\b|\bSELECT\b[^;]*?\sFROM\b|\bUPDATE\b[^;]*?\sSET\b/;

const holdsSql = (path: string): boolean =>
  path.startsWith('src/store/') || /[/-]rows\.ts$/.test(path);

function sqlElsewhere(files: readonly File[]): Violation[] {
  return files
    .filter(({ path }) => path.startsWith('src/') && !holdsSql(path))
    .flatMap((file) =>
      file.scanned.strings.flatMap(({ at, text }) => {
        const found = SQL.exec(text) ?? UPPER_SQL.exec(text);
        if (!found) return [];
        const reason =
          'SQL is only in src/store/ and in the rows of a room, where each statement has a name (reword a sentence that reads as SQL)';
        return [violation(file, at + found.index, found[0], reason)];
      }),
    );
}

const MOST_LINES = 300;

function tooLong(files: readonly File[]): Violation[] {
  return files.flatMap((file) => {
    const lines = file.text.trimEnd().split('\n').length;
    if (lines <= MOST_LINES) return [];
    const reason = `past ${MOST_LINES} lines a file has two subjects`;
    return [{ path: file.path, line: MOST_LINES + 1, found: `${lines} lines`, reason }];
  });
}

const DRAWER =
  /^(?:utils?|helpers?|common|lib|misc|types?|managers?|services?|interfaces?|shared)$/;

function drawers(files: readonly File[]): Violation[] {
  return files.flatMap((file) => {
    const names = file.path.replace(/\.ts$/, '').split('/').slice(1);
    const drawer = names.find((name) => name.split(/[-.]/).some((word) => DRAWER.test(word)));
    if (!drawer) return [];
    return [violation(file, 0, drawer, 'a drawer takes everything in: name the subject')];
  });
}

function withoutSubject(files: readonly File[]): Violation[] {
  return files.flatMap((file) => {
    const comment = /^(?:#!.*\n)?(?:\/\*\*?([\s\S]*?)\*\/|((?:\/\/.*\n)+))/.exec(file.text);
    const sentence = (comment?.[1] ?? comment?.[2] ?? '').replace(/^\s*(?:\*|\/\/)/gm, ' ').trim();
    if (/^[A-Z`'"\d].*[.!?:](?:\s|$)/s.test(sentence)) return [];
    const found = comment ? 'a first comment that is no sentence' : 'no comment at the top';
    return [violation(file, 0, found, 'a file has one subject and says it in its first sentence')];
  });
}

/** Every rule by its name, in the order in which they are held. */
export const RULES: Record<string, (files: readonly File[]) => Violation[]> = {
  'imports are readable': readableImports,
  'parts import one way': importTable,
  'no files import each other in a circle': cycles(
    (path) => path,
    'files in a circle can only be understood all at once',
  ),
  'no folders of a part import each other in a circle': cycles(
    folderOf,
    'folders stand above each other: one is read without those above it',
  ),
  'SQL is only in src/store/ and in rows': sqlElsewhere,
  'the environment is only in src/settings/': outOfHome(ENVIRONMENT),
  'time and chance are only in src/clock.ts': outOfHome(CLOCK_OR_CHANCE),
  'only src/main.ts ends the process': outOfHome(EXIT),
  'stdout is only in src/cli/ and src/main.ts': outOfHome(STDOUT),
  'no file is too long': tooLong,
  'no file is a drawer': drawers,
  'each file says its subject first': withoutSubject,
};

/** What breaks the rule of that name among `sources`. */
export function violations(rule: string, sources: readonly Source[]): Violation[] {
  return RULES[rule]?.(sources.map((source) => ({ ...source, scanned: scan(source.text) }))) ?? [];
}

/** The exceptions that no import of `sources` needs any more. */
export function spentExceptions(sources: readonly Source[]): string[] {
  const files = sources.map((source) => ({ ...source, scanned: scan(source.text) }));
  const arrows = forbiddenImports(files).map(({ arrow }) => arrow);
  return EXCEPTIONS.filter((exception) => !arrows.includes(exception));
}
