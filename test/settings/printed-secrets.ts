/** What is printed of settings that hold secrets. */
import { inspect } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { describeSettings } from '../../src/settings/describe.ts';
import { load, loadYaml } from './loading.ts';

/** What a place prints about settings, whether it takes them or not. */
function printed(run: () => ReturnType<typeof load>): string {
  try {
    const settings = run();
    return [
      inspect(settings, { depth: 9, showHidden: true }),
      JSON.stringify(settings),
      JSON.stringify(describeSettings(settings)),
    ].join('\n');
  } catch (error) {
    return inspect(error, { depth: 9, showHidden: true });
  }
}

/** Random keys and passwords in right and wrong places, so many: none is printed. */
export function noSecretIsPrinted(runs: number): void {
  const alphabet = [...'abcXYZ019!#$%&*+-./:;=?@^_{|}~"\'\\ \n\té€'];
  // It begins and ends in words that no message has, so that a part of it is found, too.
  const secret = fc
    .string({ unit: fc.constantFrom(...alphabet), maxLength: 80, size: 'max' })
    .map((middle) => `zqxjv${middle}wkqzx`);
  const wrongPlace = fc.constantFrom(
    'DAYWALK_PAGE_LENGTH',
    'DAYWALK_TIMEZONE',
    'DAYWALK_STREAMS',
    'DAYWALK_API_URL',
    'DAYWALK_UNKNOWN',
    'DAYWALK_LOG_LEVEL',
  );
  const clean = (text: string) => {
    expect(text).not.toContain('zqxjv');
    expect(text).not.toContain('wkqzx');
  };
  test('the key: in its variable, its file, in YAML, and in a wrong place besides', () => {
    fc.assert(
      fc.property(secret, wrongPlace, fc.integer({ min: 0, max: 3 }), (key, place, where) => {
        const environment = { [place]: key };
        clean(
          printed(() => {
            if (where === 0) return load({ environment: { DAYWALK_API_KEY: key } });
            if (where === 1) return load({ environment: { ...environment, DAYWALK_API_KEY: key } });
            if (where === 2)
              return load({
                environment: { ...environment, DAYWALK_API_KEY_FILE: '/k' },
                files: { '/k': `${key}\n` },
              });
            return loadYaml(
              `api: { key: ${JSON.stringify(key)} }\ntimezone: ${JSON.stringify(key)}`,
            );
          }),
        );
      }),
      { numRuns: runs },
    );
  });
  test('the key as a name in the file', () => {
    const environment = { DAYWALK_API_KEY: 'zqxjv-wkqzx' };
    const text = printed(() => loadYaml('api: { zqxjv-wkqzx: 1 }', { environment }));
    clean(text);
    expect(text).toContain(`(api.***): there is no such setting`);
  });
  test('passwords in URLs, encoded or not', () => {
    const name = fc.constantFrom('DATABASE_URL', 'HTTPS_PROXY', 'http_proxy', 'DAYWALK_API_URL');
    const scheme = fc.constantFrom('postgres://', 'http://', 'https://', 'socks5://', '');
    fc.assert(
      fc.property(secret, fc.boolean(), name, scheme, (password, encode, name, scheme) => {
        const written = encode ? encodeURIComponent(password) : password;
        clean(printed(() => load({ environment: { [name]: `${scheme}user:${written}@host/db` } })));
        clean(
          printed(() => load({ environment: { [name]: `${scheme}host/db?password=${written}` } })),
        );
      }),
      { numRuns: runs },
    );
  });
}
