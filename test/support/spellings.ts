/** A secret in the spellings that a header, a body, a log or a person could give it; written without a look at src. */

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const base64 = (text: string, encoding: BufferEncoding = 'utf8') =>
  Buffer.from(text, encoding).toString('base64');
const each = (text: string, spell: (code: number) => string) =>
  Array.from(text, (character) => spell(character.charCodeAt(0))).join('');
const digits = (code: number, length: number, base = 16) =>
  code.toString(base).padStart(length, '0');
const utf16be = (text: string) => Buffer.from(text, 'utf16le').swap16();
const json = (text: string) => JSON.stringify(text).slice(1, -1);
const percentAll = (text: string) => each(text, (c) => `%${digits(c, 2)}`);

/** What an encoder of some kind makes of a key of visible ASCII. */
export const SPELLINGS: Readonly<Record<string, (key: string) => string>> = {
  'as it is': (key) => key,
  'in lower case': (key) => key.toLowerCase(),
  'in upper case': (key) => key.toUpperCase(),
  'in JSON': json,
  'in JSON in a string of JSON': (key) => json(json(key)),
  "in PHP's JSON": (key) => json(key).replaceAll('/', '\\/'),
  'in JSON safe for HTML': (key) =>
    json(key).replace(/[<>&'"+/=]/g, (c) => `\\u${digits(c.charCodeAt(0), 4)}`),
  'as JSON escapes': (key) => each(key, (c) => `\\u${digits(c, 4)}`),
  'as JSON escapes in capitals': (key) => each(key, (c) => `\\u${digits(c, 4).toUpperCase()}`),
  'as JSON escapes in a string of JSON': (key) => each(key, (c) => `\\\\u${digits(c, 4)}`),
  'as escapes of bytes': (key) => each(key, (c) => `\\x${digits(c, 2)}`),
  'in a URL': encodeURIComponent,
  'in a URL, in lower case': (key) => encodeURIComponent(key).toLowerCase(),
  'in a URL in a URL': (key) => encodeURIComponent(encodeURIComponent(key)),
  'as a form': (key) => new URLSearchParams({ key }).toString().slice(4),
  'as percent escapes': percentAll,
  'as percent escapes in capitals': (key) => percentAll(key).toUpperCase(),
  'as percent escapes, escaped': (key) => percentAll(key).replaceAll('%', '%25'),
  'in HTML': (key) => key.replace(/[&<>"'/+=]/g, (c) => `&#${c.charCodeAt(0)};`),
  'in HTML by names': (key) =>
    key.replace(
      /[&<>"/+=]/g,
      (c) =>
        ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', '/': '&sol;', '+': '&plus;' })[
          c
        ] ?? '&equals;',
    ),
  'as decimal entities': (key) => each(key, (c) => `&#${c};`),
  'as decimal entities with zeros': (key) => each(key, (c) => `&#${digits(c, 5, 10)};`),
  'as hexadecimal entities': (key) => each(key, (c) => `&#x${digits(c, 2)};`),
  'in base64': (key) => base64(key),
  'in base64 behind a name': (key) => base64(`api:${key}`),
  'in base64 behind a longer name': (key) => base64(`admin:${key}`),
  'in base64 between others': (key) => base64(`ab${key}cd`),
  'in base64 in JSON': (key) => base64(`{"key":"${key}"}`),
  'in base64 in lower case': (key) => base64(key).toLowerCase(),
  'in base64 with slashes escaped': (key) => base64(key).replaceAll('/', '\\/'),
  'in base64 in a URL': (key) => encodeURIComponent(base64(`x:${key}`)),
  'in base64 on several lines': (key) => base64(`u:${key}`).replace(/.{8}/g, '$&\r\n'),
  'in base64url': (key) => Buffer.from(key).toString('base64url'),
  'in base64url behind a name': (key) => Buffer.from(`api:${key}`).toString('base64url'),
  'in hexadecimal': (key) => hex(Buffer.from(key)),
  'in hexadecimal in capitals': (key) => hex(Buffer.from(key)).toUpperCase(),
  'in hexadecimal with colons': (key) => hex(Buffer.from(key)).replace(/..\B/g, '$&:'),
  'in hexadecimal with spaces': (key) => hex(Buffer.from(key)).replace(/..\B/g, '$& '),
  'in UTF-16': (key) => Buffer.from(key, 'utf16le').toString('latin1'),
  'in UTF-16, big end first': (key) => utf16be(key).toString('latin1'),
  'in UTF-16 in JSON': (key) => json(Buffer.from(key, 'utf16le').toString('latin1')),
  'in UTF-16 in base64': (key) => base64(key, 'utf16le'),
  'in UTF-16 in base64, big end first': (key) => utf16be(key).toString('base64'),
  'in UTF-16 in hexadecimal': (key) => hex(Buffer.from(key, 'utf16le')),
  'in UTF-16 in hexadecimal, big end first': (key) => hex(utf16be(key)),
  'with marks that nobody sees': (key) => Array.from(key).join('\u200b'),
};

/** Nobody changes the case of a key, or writes UTF-16 in another encoding, in an answer. */
const NOT_IN_BODIES =
  /in lower case|in upper case|UTF-16 in|bytes|decimal|hexadecimal (entities|with)|lines|nobody|percent escapes, esc/;
/** Those that a body is looked through for, before it is stored. */
export const IN_BODIES = Object.entries(SPELLINGS).filter(([name]) => !NOT_IN_BODIES.test(name));
