/** How deep the YAML of the settings file is nested, found without recursion: near the end of the stack V8 may abort the process, which no catch can stop. */
import { type CST, Parser } from 'yaml';

/** Settings need five levels. */
const DEEPEST = 32;

/** Is `text` nested deeper than any settings file may be? */
export function isTooDeep(text: string): boolean {
  const todo: { token: CST.Token; depth: number }[] = [];
  // The parser keeps its own stack; only what composes values from its tokens recurses.
  for (const token of new Parser().parse(text)) todo.push({ token, depth: 0 });
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    const { token, depth } = next;
    if (depth > DEEPEST) return true;
    for (const child of childrenOf(token)) todo.push({ token: child, depth: depth + 1 });
  }
  return false;
}

function childrenOf(token: CST.Token): CST.Token[] {
  if (token.type === 'document') return token.value ? [token.value] : [];
  if (!('items' in token)) return [];
  return token.items.flatMap(({ key, value }) => [key ?? [], value ?? []].flat());
}
