/** Writes the tables of verbs, exit codes and settings into README.md, and the schema of daywalk.yaml, from the code (`npm run docs`). */
import { readFileSync, writeFileSync } from 'node:fs';
import { exitCodesTableMarkdown, verbsTableMarkdown } from '../dist/commands/readme-tables.js';
import { fileSchema } from '../dist/config/file-schema.js';
import { settingsTableMarkdown } from '../dist/config/readme-table.js';

const readme = new URL('../README.md', import.meta.url);
const tables = {
  verbs: verbsTableMarkdown(),
  'exit codes': exitCodesTableMarkdown(),
  settings: settingsTableMarkdown(),
};

let text = readFileSync(readme, 'utf8');
for (const [name, table] of Object.entries(tables)) {
  const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [from, to] = [text.indexOf(open), text.indexOf(close)];
  if (from < 0 || to < from) throw new Error(`README.md has no ${open} … ${close}`);
  text = `${text.slice(0, from)}${open}\n${table}\n${text.slice(to)}`;
}
writeFileSync(readme, text);

const schema = new URL('daywalk.schema.json', import.meta.url);
writeFileSync(schema, `${JSON.stringify(fileSchema(), null, 2)}\n`);
