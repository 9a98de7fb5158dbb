/** The JSON Schema of `daywalk.yaml`, for editors, made from the table; draft 7, because that is what they know best. */
import { FILTER_NAMES } from '../../model.ts';
import type { Kind } from '../table/setting.ts';
import { ROWS, type SettingRow } from '../table/table.ts';
import { FIELD_NAMES } from '../values/paths.ts';
import type { Fields } from './fields.ts';
import { STREAM_FIELDS } from './streams.ts';
import { COLUMN_FIELDS, TABLE_FIELDS } from './tables.ts';

type Schema = Record<string, unknown>;

const TEXT: Schema = { type: 'string', minLength: 1 };
const YES_OR_NO: Schema = { enum: [true, false, 'yes', 'no', 'on', 'off'] };

/** 0 may be without a unit. */
const quantity = (units: string): Schema => ({
  type: ['string', 'integer'],
  pattern: `^(0|[0-9]+(${units}))$`,
  maximum: 0,
});

/** The schema; what it takes the program takes too, but for the bounds of durations and sizes. */
export function fileSchema(): Schema {
  const top: Record<string, Schema> = {};
  for (const row of ROWS) {
    if (!row.inFile) continue;
    const [level, name] = row.name.split('.') as [string, string?];
    if (name === undefined) top[level] = row.key === 'streams' ? streamsSchema(row) : schemaOf(row);
    else {
      top[level] ??= mapping({}, `Settings of ${level}.`);
      (top[level].properties as Record<string, Schema>)[name] = schemaOf(row);
    }
  }
  top.tables = tablesSchema();
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: 'urn:daywalk:settings',
    title: 'daywalk.yaml',
    ...mapping(top, 'Settings of daywalk. Flags and environment variables go before this file.'),
  };
}

/** An empty part is as good as none. */
function mapping(properties: Record<string, Schema>, description: string): Schema {
  return { description, type: ['object', 'null'], additionalProperties: false, properties };
}

/** Parts by their names. */
function named(pattern: string, part: Schema, description: string): Schema {
  const patternProperties = { [pattern]: part };
  return { description, type: ['object', 'null'], patternProperties, additionalProperties: false };
}

function schemaOf(row: SettingRow): Schema {
  const { kind } = row;
  const fallback = row.default === null ? `Default: ${row.unset}.` : `Default: ${row.default}.`;
  return { description: `${row.description} ${fallback}`, ...valueSchema(kind) };
}

/** YAML reads `1000` as a number, `yes` as a text and `true` as a truth; all of them are taken. */
const SCHEMAS: { readonly [K in Kind as K['kind']]?: (kind: K) => Schema } = {
  integer: ({ min, max }) => ({ type: 'integer', minimum: min, maximum: max }),
  boolean: () => YES_OR_NO,
  choice: ({ choices }) => ({ enum: [...choices] }),
  duration: () => quantity('ms|s|m|h|d'),
  size: () => quantity('B|kB|KiB|MB|MiB|GB|GiB'),
  rate: () => ({ type: ['string', 'number'], pattern: '^[0-9]+([.][0-9]+)? ?(/ ?[smh])?$' }),
  date: () => ({ type: 'string', pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$' }),
  cron: () => ({ type: 'string', pattern: '^\\s*(\\S+\\s+){4}\\S+\\s*$' }),
  fields: () => ({
    type: ['object', 'string'],
    additionalProperties: false,
    properties: Object.fromEntries(FIELD_NAMES.map((name) => [name, { type: 'string' }])),
  }),
};

const valueSchema = (kind: Kind): Schema =>
  (SCHEMAS[kind.kind] as ((kind: Kind) => Schema) | undefined)?.(kind) ?? TEXT;

function fieldsSchema<T>(fields: Fields<T>): Record<string, Schema> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, { kind, description }]) => [
      key,
      { description, ...valueSchema(kind) },
    ]),
  );
}

function streamsSchema(row: SettingRow): Schema {
  const filters = Object.fromEntries(
    FILTER_NAMES.map((name) => [name, { type: ['string', 'number'] }]),
  );
  const stream = mapping(
    {
      ...fieldsSchema(STREAM_FIELDS),
      filters: mapping(filters, 'Parameters of the API that are the same in every request.'),
    },
    'A resource with a fixed set of filters.',
  );
  const description = `${row.description} Default: ${row.unset}.`;
  return named('^[a-z0-9][a-z0-9_-]{0,62}$', stream, description);
}

function tablesSchema(): Schema {
  const column = mapping(fieldsSchema(COLUMN_FIELDS), 'A typed value out of each record.');
  const table = mapping(
    {
      ...fieldsSchema(TABLE_FIELDS),
      columns: {
        ...named('^[a-z_][a-z0-9_]{0,62}$', column, 'Its columns by name.'),
        type: 'object',
      },
    },
    'A table of typed columns that is kept in step with a stream.',
  );
  const description = 'Record tables by name; `daywalk tables --apply` makes them.';
  return named('^[a-z_][a-z0-9_]{0,39}$', table, description);
}
