/** The template tag: nothing that is put into it can leave its place. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { escapeHtml, html } from '../../src/status-page/html.ts';

it('escapes values, joins lists, and leaves its own HTML alone', () => {
  const item = (text: string) => html`<li title="${text}">${text}</li>`;
  expect(html`<ul>${['<b>', '"\'&'].map(item)}</ul>${null}${false}${undefined}${0}`.text).toBe(
    '<ul><li title="&#60;b&#62;">&#60;b&#62;</li><li title="&#34;&#39;&#38;">&#34;&#39;&#38;</li></ul>0',
  );
});

it('shows what would hide text: terminal sequences and marks that turn its direction', () => {
  expect(escapeHtml('a\u001b[31mb\u202ec\u0000d\te\nf')).toBe(
    'a\\u001b[31mb\\u202ec\\u0000d\te\nf',
  );
});

it('of any text, no letter that ends an element or an attribute gets through', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 50 }), (text) => {
      const shown = html`${text}`.text;
      expect(shown).not.toMatch(/[<>"']|&(?!amp;|lt;|gt;|quot;|#39;)/);
    }),
  );
});
