/** Writes the table of settings into README.md, and the schema of daywalk.yaml, from the table in code (`npm run docs`). */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileSchema } from '../dist/config/file-schema.js';
import { settingsTableMarkdown } from '../dist/config/readme-table.js';

const readme = new URL('../README.md', import.meta.url);
const before = readFileSync(readme, 'utf8');
const [open, close] = ['<!-- settings -->', '<!-- /settings -->'];
const at = [before.indexOf(open), before.indexOf(close)];
if (at[0] < 0 || at[1] < at[0]) throw new Error(`README.md has no ${open} … ${close}`);
const after = `${before.slice(0, at[0])}${open}\n${settingsTableMarkdown()}\n${before.slice(at[1])}`;
if (after !== before) writeFileSync(readme, after);

const schema = new URL('daywalk.schema.json', import.meta.url);
writeFileSync(schema, `${JSON.stringify(fileSchema(), null, 2)}\n`);
