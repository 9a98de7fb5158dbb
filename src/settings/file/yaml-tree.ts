/** The YAML of the settings file, as a small tree of texts with their places; no value is interpreted, so `1.10` stays `1.10`. */
import {
  CST,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  Parser,
  parseDocument,
  type Scalar,
} from 'yaml';
import { type Problems, shownWord } from '../problems.ts';

/** A part of the file: a key and what stands behind it. */
export interface Part {
  readonly key: string;
  /** `daywalk.yaml:12:3` */
  readonly spot: string;
  /** `streams.audit`, as messages may show it. */
  readonly path: string;
  /** Both, for messages: `daywalk.yaml:12:3 (streams.audit)`. */
  readonly place: string;
  /** What stands there, in words; empty for nothing after the colon, and for `null`. */
  readonly what: string;
  /** Where it is one value. */
  readonly text?: string;
  /** Where it is a mapping. */
  readonly parts?: readonly Part[];
}

/** Settings need five levels. */
const DEEPEST = 32;

/** Reads the text of `file`; undefined, with the problem told, if it is not YAML. The parser's messages quote the text, so they are not used. */
export function parseYaml(text: string, file: string, problems: Problems): Part | undefined {
  const lines = new LineCounter();
  const spotAt = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line || 1}:${col || 1}`;
  };
  const spotOf = (node: unknown) => spotAt((node as { range?: [number] } | null)?.range?.[0] ?? 0);
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
    problems.add(spotAt(broken.pos[0]), `is not YAML: ${REASONS[code] ?? code.toLowerCase()}`);
    return undefined;
  }
  for (const warning of document.warnings)
    problems.add(spotAt(warning.pos[0]), 'a value that begins with ! needs quotes');
  const { contents } = document;
  const top = partOf('', contents, spotOf(contents), '', { spotOf, problems });
  if (top.parts !== undefined || top.what === '') return { parts: [], ...top };
  problems.add(top.spot, `expected settings, such as page_length: 1000, but found ${top.what}`);
  return undefined;
}

/** How the tree's places are told, and what is wrong in it. */
interface Telling {
  readonly spotOf: (node: unknown) => string;
  readonly problems: Problems;
}

function partOf(key: string, node: unknown, spot: string, path: string, telling: Telling): Part {
  const part = { key, spot, path, place: `${spot} (${path})` };
  if (isAlias(node)) return { ...part, what: ALIAS };
  if (isSeq(node)) return { ...part, what: 'a list' };
  if (isMap(node)) return { ...part, what: 'a mapping', parts: partsOf(node.items, path, telling) };
  if (!isScalar(node) || node.value === null) return { ...part, what: '' };
  return { ...part, what: 'a text', text: textOf(node) };
}

function partsOf(items: readonly Pair[], path: string, telling: Telling): Part[] {
  const seen = new Set<string>();
  return items.flatMap(({ key, value }) => {
    const spot = telling.spotOf(key);
    if (!isScalar(key)) {
      telling.problems.add(spot, 'a key must be a plain word');
      return [];
    }
    const name = textOf(key);
    if (seen.has(name))
      telling.problems.add(spot, 'the same key stands here a second time; keep one of them');
    seen.add(name);
    return partOf(name, value, spot, joined(path, name), telling);
  });
}

/** Asked of the tokens: what composes values of them recurses, and near the end of the stack V8 may abort the process, which no catch can stop. */
function isTooDeep(text: string): boolean {
  let deepest = 0;
  for (const token of new Parser().parse(text))
    if (token.type === 'document')
      CST.visit(token, (_, { length }) => {
        deepest = Math.max(deepest, length);
        return deepest > DEEPEST ? CST.visit.BREAK : undefined;
      });
  return deepest > DEEPEST;
}

/** A number or boolean as it is written; only text is unquoted and unescaped. */
const textOf = ({ value, source }: Scalar): string =>
  typeof value === 'string' ? value : (source ?? String(value));

const ALIAS = 'an alias, as everything after * is one in YAML; put the value in quotes';
const REASONS: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: 'a tab; indent with spaces',
  BAD_INDENT: 'the indentation does not fit the lines before',
  BLOCK_AS_IMPLICIT_KEY: 'a second colon in one line, or a line indented too far',
  MULTILINE_IMPLICIT_KEY: 'a key without its colon',
  MISSING_CHAR: 'a quote, bracket or colon is missing',
  BAD_SCALAR_START: 'a value that begins with this character needs quotes',
  BAD_ALIAS: 'a value that begins with * needs quotes',
  BAD_DQ_ESCAPE: 'an unknown escape; use single quotes for a plain backslash',
  MULTIPLE_DOCS: 'a second document begins; there can be only one',
  BAD_DIRECTIVE: 'a line that begins with % is not known',
};

/** `path.key`, for messages. */
export function joined(path: string, key: string): string {
  return path === '' ? shownWord(key) : `${path}.${shownWord(key)}`;
}
