/** Writes the tables of docs/verbs.md and docs/settings.md, the manual page, and the schema of daywalk.yaml, from the code (`npm run docs`). */
import { readFileSync, writeFileSync } from 'node:fs';
import {
  exitCodesTableMarkdown,
  settingsTableMarkdown,
  verbsTableMarkdown,
} from '../dist/cli/docs-tables.js';
import { manPage } from '../dist/cli/man-page.js';
import { packageVersion } from '../dist/cli/package-version.js';
import { fileSchema } from '../dist/settings/file/file-schema.js';

/** Puts a table between its marks on a page. */
function write(page, name, table) {
  const file = new URL(page, import.meta.url);
  const text = readFileSync(file, 'utf8');
  const [open, close] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [from, to] = [text.indexOf(open), text.indexOf(close)];
  if (from < 0 || to < from) throw new Error(`docs/${page} has no ${open} … ${close}`);
  writeFileSync(file, `${text.slice(0, from)}${open}\n${table}\n${text.slice(to)}`);
}

write('verbs.md', 'verbs', verbsTableMarkdown());
write('verbs.md', 'exit codes', exitCodesTableMarkdown());
write('settings.md', 'settings', settingsTableMarkdown());

writeFileSync(new URL('daywalk.1', import.meta.url), `${manPage(packageVersion())}\n`);

const schema = new URL('daywalk.schema.json', import.meta.url);
writeFileSync(schema, `${JSON.stringify(fileSchema(), null, 2)}\n`);
