/** URLs: of the API, the database and a proxy; what is wrong with one is told without repeating it, for it may hold a password. */
import { RESOURCES } from '../../model.ts';
import { Wrong } from '../problems.ts';
import { MASK, Secret } from './secret.ts';

/** Shorter parts of a hook's path are words like `services`, which a log may say. */
const SHORTEST_TOKEN = 10;

/** The base URL of the API: origin and path prefix, without a slash at the end. */
export function parseApiUrl(text: string): string | Wrong {
  const wrong = malformed(text, /^https?:$/, 'https://api.example.com');
  if (wrong) return new Wrong(wrong.why, !/[@?#]/.test(text));
  const url = new URL(text);
  if (url.username || url.password || text.includes('@'))
    return hidden('holds a user or password; the API takes a key, in api.key');
  if (text.includes('?') || text.includes('#'))
    return hidden('has a query or fragment; leave it out');
  const path = url.pathname.replace(/\/+$/, '');
  const resource = RESOURCES.find((name) => path.endsWith(`/api/${name}`));
  if (resource !== undefined)
    return new Wrong(`is not the base URL: leave out /api/${resource}, which is added to it`);
  return url.origin + path;
}

/** May the key be sent to `url` without being told so? Over https, and to this machine. */
export function mayCarryKey(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || isThisMachine(hostname);
}

const isThisMachine = (host: string): boolean =>
  /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/i.test(host);

/** A Postgres URL as `pg` takes it. */
export function parseDatabaseUrl(given: string): Secret | Wrong {
  const example = 'postgres://user:password@host/database';
  const text = given.replace(NO_HOST, '$&localhost');
  const wrong = malformed(text, /^postgres(ql)?:$/, example);
  if (wrong) return wrong;
  const url = new URL(text);
  // What comes after an unencoded # or / in a password is taken for something else.
  if (text.includes('#') || url.pathname.includes('@') || url.pathname.slice(1).includes('/'))
    return hidden(
      `is not like ${example}; in user and password, write # as %23, / as %2F, ? as %3F`,
    );
  if (url.hostname.includes(',')) return hidden('names several hosts; give it one');
  return new Secret(verifying(text));
}

/** Where a host would stand that is left out; what the environment says (PGHOST) might be another machine. */
const NO_HOST = /^[^/]*\/\/(?:[^/?]*@)?(?=[/?]|$)/;

/** Ways to ask for TLS that `pg` takes for the strictest one today, and may take for weaker ones in its next version. */
const STRICT_TODAY = /([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/;

/** The URL with TLS asked for, and the check of the server's certificate by name, unless it says otherwise or stays on this machine. */
function verifying(text: string): string {
  const { searchParams, hostname } = new URL(text);
  // Of parameters that are repeated `pg` takes the last.
  const last = (name: string) => searchParams.getAll(name).at(-1);
  const host = last('host') || decoded(hostname);
  if (!last('sslmode') && !host.startsWith('/') && !isThisMachine(host))
    return `${text}${text.includes('?') ? '&' : '?'}sslmode=verify-full`;
  return last('uselibpqcompat') === undefined ? text.replace(STRICT_TODAY, '$1verify-full') : text;
}

/** Whether the URL asks for TLS without a full check of the certificate: then whoever stands between can read everything. */
export function skipsCertificateCheck(secret: Secret): boolean {
  const { searchParams } = new URL(secret.reveal());
  const mode = searchParams.get('sslmode');
  return (
    mode === 'no-verify' ||
    (searchParams.has('uselibpqcompat') && ['prefer', 'require', 'verify-ca'].includes(mode ?? ''))
  );
}

/** A proxy's URL; without a scheme it is taken for http. */
export function parseProxyUrl(text: string): Secret | Wrong {
  const full = /^[\w.-]+:\d+$/.test(text) || !text.includes(':') ? `http://${text}` : text;
  const wrong = malformed(full, /^https?:$/, 'http://proxy.example.com:3128');
  if (wrong) return wrong;
  const url = new URL(full);
  if (url.pathname !== '/' || /[?#]/.test(full)) return hidden('has a path; a proxy has none');
  return new Secret(url.href);
}

/** The URL of a ping or webhook; its path is the token. */
export function parseHookUrl(text: string): Secret | Wrong {
  const wrong = malformed(text.trim(), /^https?:$/, 'https://hc-ping.com/your-uuid');
  if (wrong) return wrong;
  const url = new URL(text.trim());
  if (url.username || url.password)
    return hidden('holds a user or password; put the token where the service expects it');
  if (url.hash) return hidden('has a fragment; leave it out');
  return new Secret(url.href);
}

/** A URL that is a secret. */
type SecretUrl = 'database' | 'proxy' | 'hook';

/** The URL of a database, proxy or hook with everything in it masked that could be a secret. */
export function maskedUrl(secret: Secret, of: SecretUrl): string {
  if (of === 'hook') return `${new URL(secret.reveal()).origin}/${MASK}`;
  const url = new URL(secret.reveal());
  const user = of === 'database' ? url.username : url.username && MASK;
  const login = user || url.password ? `${user}${url.password && `:${MASK}`}@` : '';
  // Of a password with an unencoded & the rest would stand here as a name.
  const parameters = url.search && `?${MASK}`;
  const path = of === 'proxy' ? '' : url.pathname;
  return `${url.protocol}//${login}${url.host}${path}${parameters}`;
}

/** The secret parts of such a URL, as written and decoded. */
export function passwordsIn(secret: Secret, of: SecretUrl): string[] {
  if (of === 'hook') return tokensIn(new URL(secret.reveal()));
  const url = new URL(secret.reveal());
  const parts = of === 'database' ? [url.password] : [url.password, url.username];
  const parameters = [...url.searchParams].flatMap(([name, value]) =>
    /pass/i.test(name) ? [value, encodeURIComponent(value)] : [],
  );
  const basic =
    of === 'proxy' && url.username
      ? [Buffer.from(`${decoded(url.username)}:${decoded(url.password)}`).toString('base64')]
      : [];
  return [...parts, ...parts.map(decoded), ...parameters, ...basic].filter((part) => part !== '');
}

/** What follows the origin, and each part of it that is long enough to be a token. */
function tokensIn({ pathname, search, searchParams }: URL): string[] {
  const parts = [...pathname.split('/'), ...searchParams.values()];
  const tokens = parts.filter((part) => part.length >= SHORTEST_TOKEN);
  const all = [pathname + search, pathname, ...tokens].filter((part) => part.length > 1);
  return [...new Set([...all, ...all.map(decoded)])];
}

function malformed(text: string, protocol: RegExp, example: string): Wrong | undefined {
  if (/[\s\p{Cc}\\]/u.test(text))
    return hidden('holds white space, a control character or a backslash');
  const scheme = /^([a-z][a-z\d+.-]*:)\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined || !protocol.test(scheme)) return hidden(`is not a URL like ${example}`);
  try {
    const url = new URL(text);
    for (const part of [url.username, url.password, url.pathname]) decodeURIComponent(part);
  } catch {
    return hidden(
      `is not a URL like ${example}; special characters in user and password are written as %xx`,
    );
  }
  return undefined;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function hidden(why: string): Wrong {
  return new Wrong(why, false);
}
