/** The YAML of the settings file, as a small tree of texts with their places; no value is interpreted, so `1.10` stays `1.10`. */
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import { type Problems, shownWord } from '../problems.ts';
import { isTooDeep } from './yaml-depth.ts';

/** `daywalk.yaml:12:3` */
export type Spot = string;
/** A part of the file, with the place where it begins. */
export type Tree =
  | { readonly is: 'text'; readonly spot: Spot; readonly text: string }
  | { readonly is: 'mapping'; readonly spot: Spot; readonly entries: readonly Entry[] }
  /** Nothing after the colon, or `null`. */
  | { readonly is: 'empty'; readonly spot: Spot }
  | { readonly is: 'other'; readonly spot: Spot; readonly what: string };
export interface Entry {
  readonly key: string;
  readonly spot: Spot;
  readonly value: Tree;
}
export type Mapping = Extract<Tree, { is: 'mapping' }>;

/** Reads the text of `file`; undefined, with the problem told, if it is not YAML. The parser's messages quote the text, so they are not used. */
export function parseYaml(text: string, file: string, problems: Problems): Mapping | undefined {
  const lines = new LineCounter();
  const spotOf = (offset: number | undefined): Spot => {
    const { line, col } = lines.linePos(offset ?? 0);
    return `${file}:${line || 1}:${col || 1}`;
  };
  if (isTooDeep(text)) {
    problems.add(file, 'is nested too deep to be settings');
    return undefined;
  }
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    logLevel: 'error',
    // Looked for below: the parser compares every key with every other one.
    uniqueKeys: false,
  });
  // What follows the first error of grammar is mostly its consequence.
  const [broken] = document.errors;
  if (broken) {
    const { code } = broken;
    problems.add(spotOf(broken.pos[0]), `is not YAML: ${REASONS.get(code) ?? code.toLowerCase()}`);
    return undefined;
  }
  for (const warning of document.warnings)
    problems.add(spotOf(warning.pos[0]), 'a value that begins with ! needs quotes');
  const top = treeOf(document.contents, spotOf, problems);
  if (top.is === 'mapping') return top;
  if (top.is === 'empty') return { is: 'mapping', spot: top.spot, entries: [] };
  const found = top.is === 'other' ? top.what : 'a text';
  problems.add(top.spot, `expected settings, such as page_length: 1000, but found ${found}`);
  return undefined;
}

const ALIAS = 'an alias, as everything after * is one in YAML; put the value in quotes';

type SpotOf = (offset: number | undefined) => Spot;

function treeOf(node: unknown, spotOf: SpotOf, problems: Problems): Tree {
  const spot = spotOf((node as { range?: [number] } | null)?.range?.[0]);
  if (isAlias(node)) return { is: 'other', spot, what: ALIAS };
  if (isSeq(node)) return { is: 'other', spot, what: 'a list' };
  if (isMap(node)) return { is: 'mapping', spot, entries: entriesOf(node.items, spotOf, problems) };
  if (!isScalar(node) || node.value === null) return { is: 'empty', spot };
  return { is: 'text', spot, text: textOf(node) };
}

function entriesOf(
  items: readonly { key: unknown; value: unknown }[],
  spotOf: SpotOf,
  problems: Problems,
): Entry[] {
  const seen = new Set<string>();
  return items.flatMap(({ key, value }) => {
    const spot = spotOf((key as { range?: [number] } | null)?.range?.[0]);
    if (!isScalar(key)) {
      problems.add(spot, 'a key must be a plain word');
      return [];
    }
    const name = textOf(key);
    if (seen.has(name))
      problems.add(spot, 'the same key stands here a second time; keep one of them');
    seen.add(name);
    const child = treeOf(value, spotOf, problems);
    return { key: name, spot, value: child.is === 'empty' ? { ...child, spot } : child };
  });
}

/** A number or boolean as it is written; only text is unquoted and unescaped. */
function textOf(scalar: { readonly value: unknown; readonly source?: string }): string {
  return typeof scalar.value === 'string' ? scalar.value : (scalar.source ?? String(scalar.value));
}

const REASONS: ReadonlyMap<string, string> = new Map<string, string>([
  ['TAB_AS_INDENT', 'a tab; indent with spaces'],
  ['BAD_INDENT', 'the indentation does not fit the lines before'],
  ['BLOCK_AS_IMPLICIT_KEY', 'a second colon in one line, or a line indented too far'],
  ['MULTILINE_IMPLICIT_KEY', 'a key without its colon'],
  ['MISSING_CHAR', 'a quote, bracket or colon is missing'],
  ['BAD_SCALAR_START', 'a value that begins with this character needs quotes'],
  ['BAD_ALIAS', 'a value that begins with * needs quotes'],
  ['BAD_DQ_ESCAPE', 'an unknown escape; use single quotes for a plain backslash'],
  ['MULTIPLE_DOCS', 'a second document begins; there can be only one'],
  ['BAD_DIRECTIVE', 'a line that begins with % is not known'],
]);

/** `path.key`, for messages. */
export function joined(path: string, key: string): string {
  return path === '' ? shownWord(key) : `${path}.${shownWord(key)}`;
}
