/** HTML that cannot be broken by what it shows: the template tag escapes every value that is not HTML of its own making. */
import type { Answer } from '../answer.ts';
import { printableLines } from '../text.ts';

/** A piece of HTML. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** What may stand in a template: text is escaped, nothing is shown for null and false. */
export type Shown = string | number | Html | null | false | undefined | readonly Shown[];

/** Text for HTML, also within a quoted attribute; what would hide text is shown as its code. */
export function escapeHtml(text: string): string {
  return printableLines(text).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** The tag: `html\`<p>${text}</p>\``. Attributes must be quoted. */
export const html = (parts: TemplateStringsArray, ...values: readonly Shown[]): Html =>
  new Html(String.raw({ raw: parts }, ...values.map(shownText)));

function shownText(value: Shown): string {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof Html) return value.text;
  if (typeof value === 'object') return value.map(shownText).join('');
  return escapeHtml(String(value));
}

/** A page as an answer. */
export function page(body: Html, status = 200): Answer {
  return { status, type: 'text/html; charset=utf-8', body: body.text };
}

/**
 * A table that may be wider than a phone.
 * @param heading the id of the heading above it.
 * @param columns their names; those of numbers begin with #.
 */
export function table(heading: string, columns: readonly string[], rows: Shown, foot?: Shown) {
  const head = columns.map((name) =>
    name.startsWith('#')
      ? html`<th scope="col" class="n">${name.slice(1)}</th>`
      : html`<th scope="col">${name}</th>`,
  );
  return html`<div class="wide" tabindex="0" role="group" aria-labelledby="${heading}"><table><thead><tr>${head}</tr></thead><tbody>${rows}</tbody>${foot}</table></div>`;
}
