/** The JSON Schemas that are shipped in docs/, as judges of what the program writes. */
import { readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';

const compiled = new Map<string, ValidateFunction>();

/** What a value breaks of `docs/<name>.schema.json`; nothing when it fits. */
export function violations(name: string, value: unknown): string[] {
  const fits = judge(name);
  if (fits(value)) return [];
  return (fits.errors ?? []).map((error) => `${error.instancePath} ${error.message}`);
}

function judge(name: string): ValidateFunction {
  const known = compiled.get(name);
  if (known !== undefined) return known;
  const file = new URL(`../../docs/${name}.schema.json`, import.meta.url);
  const ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true });
  const made = ajv.compile(JSON.parse(readFileSync(file, 'utf8')));
  compiled.set(name, made);
  return made;
}
