/** HTML that cannot be broken by what it shows: the template tag escapes every value that is not HTML of its own making. */

/** A piece of HTML. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** What may stand in a template: text is escaped, nothing is shown for null and false. */
export type Shown = string | number | Html | null | false | undefined | readonly Shown[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
/** Controls but line ends and tabs, and marks that turn the direction of text: they hide what is written. */
const HIDING = /[\p{Bidi_Control}\u2028\u2029]|(?![\n\t])\p{Cc}/gu;

/** Text for HTML, also within a quoted attribute; what would hide text is shown as its code. */
export function escapeHtml(text: string): string {
  return text
    .replace(HIDING, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/** The tag: `html\`<p>${text}</p>\``. Attributes must be quoted. */
export function html(parts: TemplateStringsArray, ...values: readonly Shown[]): Html {
  let text = parts[0] ?? '';
  for (const [index, value] of values.entries())
    text += shownText(value) + (parts[index + 1] ?? '');
  return new Html(text);
}

function shownText(value: Shown): string {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(shownText).join('');
  return escapeHtml(String(value));
}
