/** The JSON Schema of `daywalk.yaml` for editors, draft 7: which names there are, what they are for, and what may be chosen; how a value looks only the program says. */
import { FILTER_NAMES } from '../../model.ts';
import type { Kind } from '../table/setting.ts';
import { ROWS } from '../table/table.ts';
import type { Fields } from './fields.ts';
import { STREAM_FIELDS } from './streams.ts';
import { COLUMN_FIELDS, TABLE_FIELDS } from './tables.ts';

type Schema = Readonly<Record<string, unknown>>;

/** The schema; what it takes the program takes too, but for how values look. */
export function fileSchema(): Schema {
  const top: Record<string, Schema> = {};
  const levels: Record<string, Record<string, Schema>> = {};
  for (const { name, inFile, kind, description, default: value, unset } of ROWS) {
    if (!inFile) continue;
    const about = { description: `${description} Default: ${value ?? unset}.`, ...chosen(kind) };
    const [level, inner] = name.split('.') as [string, string?];
    if (inner === undefined) top[level] = about;
    else {
      levels[level] = { ...levels[level], [inner]: about };
      top[level] = mapping(levels[level]);
    }
  }
  const filters = mapping(Object.fromEntries(FILTER_NAMES.map((name) => [name, {}])));
  const columns = named(mapping(fieldsSchema(COLUMN_FIELDS)));
  top.streams = { ...top.streams, ...named(mapping({ ...fieldsSchema(STREAM_FIELDS), filters })) };
  top.tables = named(mapping({ ...fieldsSchema(TABLE_FIELDS), columns }));
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: 'urn:daywalk:settings',
    title: 'daywalk.yaml',
    ...mapping(top),
  };
}

/** An empty part is as good as none. */
const mapping = (properties: Schema): Schema => ({
  type: ['object', 'null'],
  additionalProperties: false,
  properties,
});

/** Parts by names of their own. */
const named = (part: Schema): Schema => ({
  type: ['object', 'null'],
  additionalProperties: part,
});

const fieldsSchema = <T>(fields: Fields<T>): Schema =>
  Object.fromEntries(Object.entries(fields).map(([key, [, kind]]) => [key, chosen(kind)]));

/** YAML reads `yes` as a text and `true` as a truth. */
function chosen(kind: Kind): Schema {
  if (kind.kind === 'boolean') return { enum: [true, false, 'yes', 'no', 'on', 'off'] };
  return kind.kind === 'choice' ? { enum: kind.choices } : {};
}
