/** A scanner of TypeScript text that knows just enough to tell code from comments, strings and regular expressions. */

/** The parts of a source text; all of the same length, line for line, with the rest blanked out. */
export interface Scanned {
  /** Code alone: comments, the insides of strings and regular expressions are blank. */
  readonly code: string;
  /** The insides of strings and templates alone, without what templates insert. */
  readonly strings: readonly { readonly at: number; readonly text: string }[];
}

/** A word or sign after which a slash begins a regular expression and does not divide. */
const BEFORE_REGEX =
  /(?:^|[([{,;=:!&|?+\-*%~^<>}]|\b(?:return|typeof|case|in|of|void|yield|await|throw))\s*$/;

/** Takes `text` apart. */
export function scan(text: string): Scanned {
  const code = text.split('');
  const strings: { at: number; text: string }[] = [];
  /** For each template that is open around us: how many braces are open in its insertion. */
  const insertions: number[] = [];
  let at = 0;

  const blank = (from: number, to: number): void => {
    for (let i = from; i < to; i += 1) if (code[i] !== '\n') code[i] = ' ';
  };
  const skip = (pattern: RegExp): number => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0].length ?? 1;
  };
  /** From the backtick or the closing brace at `at` to the end of this piece of the template. */
  const template = (): void => {
    const start = at + 1;
    at += skip(/[`}](?:[^`\\$]|\\[\s\S]|\$(?!\{))*/y);
    strings.push({ at: start, text: text.slice(start, at) });
    blank(start, at);
    if (text.startsWith('${', at)) {
      insertions.push(0);
      at += 2;
    } else at += 1;
  };

  while (at < text.length) {
    const here = text[at] ?? '';
    const open = insertions.length - 1;
    if (text.startsWith('//', at) || text.startsWith('/*', at) || text.startsWith('#!', at)) {
      const end = at + skip(/\/\/.*|\/\*[\s\S]*?\*\/|#!.*/y);
      blank(at, end);
      at = end;
    } else if (here === '"' || here === "'") {
      const end = at + skip(/"(?:[^"\\\n]|\\[\s\S])*"|'(?:[^'\\\n]|\\[\s\S])*'/y);
      strings.push({ at: at + 1, text: text.slice(at + 1, end - 1) });
      blank(at + 1, end - 1);
      at = end;
    } else if (here === '`') template();
    else if (here === '}' && insertions[open] === 0) {
      insertions.pop();
      template();
    } else if (here === '/' && BEFORE_REGEX.test(code.slice(Math.max(0, at - 80), at).join(''))) {
      const end = at + skip(/\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y);
      blank(at + 1, end);
      at = end;
    } else {
      if (open >= 0 && here === '{') insertions[open] = (insertions[open] ?? 0) + 1;
      if (open >= 0 && here === '}') insertions[open] = (insertions[open] ?? 0) - 1;
      at += 1;
    }
  }
  return { code: code.join(''), strings };
}

/** An import or re-export, types included. */
export interface Import {
  readonly at: number;
  /** What is imported; null where it is not written as one plain string. */
  readonly from: string | null;
}

const STATIC = /\b(?:import|export)\b(?:\s+type\b)?\s*(?:[\w$*{][^'"`;()=]*?\bfrom\s*)?(?=['"])/g;
const DYNAMIC = /\b(?:import|require)\s*\(\s*/g;

/** The imports of a source text: `import … from`, `export … from`, `import '…'`, `import('…')`, also as a type, and `require('…')`. */
export function importsOf({ code, strings }: Scanned): Import[] {
  const texts = new Map(strings.map(({ at, text }) => [at, text]));
  const found = (pattern: RegExp): Import[] =>
    [...code.matchAll(pattern)].map(({ index, 0: match }) => ({
      at: index,
      from: texts.get(index + match.length + 1) ?? null,
    }));
  return [...found(STATIC), ...found(DYNAMIC)].sort((a, b) => a.at - b.at);
}

/** The number of the line of an offset, from 1. */
export function lineAt(text: string, at: number): number {
  return text.slice(0, at).split('\n').length;
}
