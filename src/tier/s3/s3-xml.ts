/** The XML of S3's answers: elements and text, nothing else; what is not well-formed is no answer. */

/** An element with what is in it. */
export interface XmlElement {
  readonly name: string;
  /** Of the element itself, without that of its children. */
  readonly text: string;
  readonly children: readonly XmlElement[];
}

/** A declaration; an end; a start, with attributes (the namespace), empty or not; text. */
const TOKEN =
  /(<\?xml[^<>]*\?>)|<\/([\w:.-]+)\s*>|<([\w:.-]+)(?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*\s*(\/?)>|([^<]+)/y;
const ENTITY = /&(?:(lt|gt|amp|quot|apos)|#(\d{1,7})|#x([\da-fA-F]{1,6}));|&/g;
const NAMED: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  apos: "'",
};

/** @returns the root; null: it is not well-formed, or has what S3 does not write (comments, CDATA, document types). */
export function parseXml(xml: string): XmlElement | null {
  const top = { name: '', text: '', children: [] as XmlElement[] };
  const open = [top];
  TOKEN.lastIndex = xml.startsWith('\uFEFF') ? 1 : 0;
  while (TOKEN.lastIndex < xml.length) {
    const token = TOKEN.exec(xml);
    const inner = open.at(-1);
    if (token === null || inner === undefined) return null;
    const [, declaration, end, start, empty, text] = token;
    if (declaration !== undefined) {
      if (inner !== top || top.children.length > 0) return null;
    } else if (end !== undefined) {
      if (open.length === 1 || inner.name !== end) return null;
      open.pop();
    } else if (start !== undefined) {
      const element = { name: start, text: '', children: [] };
      inner.children.push(element);
      if (empty === '') open.push(element);
    } else {
      const plain = unescaped(text ?? '');
      if (plain === null || (inner === top && plain.trim() !== '')) return null;
      inner.text += plain;
    }
  }
  const [root] = top.children;
  return open.length === 1 && top.children.length === 1 && root !== undefined ? root : null;
}

/** The text of the first child of that name; undefined: there is none. */
export function childText(element: XmlElement | null, name: string): string | undefined {
  return element?.children.find((child) => child.name === name)?.text;
}

function unescaped(text: string): string | null {
  let isGood = true;
  const plain = text.replace(ENTITY, (_, name?: string, decimal?: string, hex?: string) => {
    const code = Number.parseInt(decimal ?? hex ?? '', decimal === undefined ? 16 : 10);
    if (name !== undefined) return NAMED[name] ?? '';
    if (code > 0 && code <= 0x10ffff) return String.fromCodePoint(code);
    isGood = false;
    return '';
  });
  return isGood ? plain : null;
}
