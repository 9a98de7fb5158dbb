/** URLs: of the API, the database and a proxy; what is wrong with one is told without repeating it, for it may hold a password. */
import { hostsOf, isLoopbackHost } from '../../hosts.ts';
import { RESOURCES } from '../../model.ts';
import { Wrong } from '../problems.ts';
import { MASK, Secret } from './secret.ts';

/** Shorter parts of a hook's path are words like `services`, which a log may say. */
const SHORTEST_TOKEN = 10;

/** The base URL of the API: origin and path prefix, without a slash at the end. */
export function parseApiUrl(text: string): string | Wrong {
  const url = urlOf(text, /^https?:$/, 'https://api.example.com');
  if (url instanceof Wrong) return new Wrong(url.why, !/[@?#]/.test(text));
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
  return protocol === 'https:' || isLoopbackHost(hostname);
}

/** A Postgres URL as `pg` takes it, or one with several hosts, each of which `pg` takes. */
export function parseDatabaseUrl(given: string): Secret | Wrong {
  const example = 'postgres://user:password@host/database';
  const text = given.replace(NO_HOST, '$&localhost');
  const hosts = hostsOf(text);
  for (const { name, url } of hosts) {
    const found = urlOf(url, /^postgres(ql)?:$/, example);
    if (found instanceof Wrong) return found;
    if (hosts.length > 1 && !/^[^:]/.test(name)) return hidden('has a comma without a host');
  }
  const url = new URL(hosts[0].url);
  // What comes after an unencoded # or / in a password is taken for something else.
  if (text.includes('#') || url.pathname.includes('@') || url.pathname.slice(1).includes('/'))
    return hidden(
      `is not like ${example}; in user and password, write # as %23, / as %2F, ? as %3F`,
    );
  const wrong = wrongParameters(url.searchParams, hosts.length);
  return wrong ?? new Secret(verifying(text));
}

/** What `pg` would take otherwise than libpq, which has these parameters. */
function wrongParameters(parameters: URLSearchParams, hosts: number): Wrong | undefined {
  const named = parameters.getAll('host');
  if ((hosts > 1 && named.length > 0) || named.some((name) => name.includes(',')))
    return hidden('names hosts after the ?; write several before the /, as host1:5432,host2:5432');
  if (parameters.getAll('port').some((port) => port.includes(',')))
    return hidden('names ports after the ?; write each behind its host, as host1:5432,host2:5432');
  const attributes = parameters.getAll('target_session_attrs');
  return attributes.every((value) => value === 'read-write' || value === 'primary')
    ? undefined
    : hidden('asks for target_session_attrs other than read-write: daywalk writes');
}

/** Where a host would stand that is left out; what the environment says (PGHOST) might be another machine. */
const NO_HOST = /^[^/]*\/\/(?:[^/?]*@)?(?=[/?]|$)/;

/** Ways to ask for TLS that `pg` takes for the strictest one today, and may take for weaker ones in its next version. */
const STRICT_TODAY = /([?&]sslmode=)(?:prefer|require|verify-ca)(?=&|$)/;

/**
 * The URL with TLS asked for, and the check of the server's certificate by name, unless it says otherwise or stays on
 * this machine. Of several hosts one elsewhere is enough: each is then checked by its own name.
 */
function verifying(text: string): string {
  const hosts = hostsOf(text);
  const { searchParams } = new URL(hosts[0].url);
  const last = (name: string) => lastOf(searchParams, name);
  const stays = hosts.every(({ url }) => {
    const host = last('host') || decoded(new URL(url).hostname);
    return host.startsWith('/') || isLoopbackHost(host);
  });
  if (!last('sslmode') && !stays)
    return `${text}${text.includes('?') ? '&' : '?'}sslmode=verify-full`;
  return last('uselibpqcompat') === undefined ? text.replace(STRICT_TODAY, '$1verify-full') : text;
}

/** Of parameters that are repeated `pg` takes the last. */
const lastOf = (parameters: URLSearchParams, name: string): string | undefined =>
  parameters.getAll(name).at(-1);

/** Whether the URL asks for TLS without a full check of the certificate: then whoever stands between can read everything. */
export function skipsCertificateCheck(secret: Secret): boolean {
  const { searchParams } = new URL(hostsOf(secret.reveal())[0].url);
  const mode = lastOf(searchParams, 'sslmode');
  return (
    mode === 'no-verify' ||
    (searchParams.has('uselibpqcompat') && ['prefer', 'require', 'verify-ca'].includes(mode ?? ''))
  );
}

/** A proxy's URL; without a scheme it is taken for http. */
export function parseProxyUrl(text: string): Secret | Wrong {
  const full = /^[\w.-]+:\d+$/.test(text) || !text.includes(':') ? `http://${text}` : text;
  const url = urlOf(full, /^https?:$/, 'http://proxy.example.com:3128');
  if (url instanceof Wrong) return url;
  if (url.pathname !== '/' || /[?#]/.test(full)) return hidden('has a path; a proxy has none');
  return new Secret(url.href);
}

/** The URL of a ping or webhook; its path is the token. */
export function parseHookUrl(text: string): Secret | Wrong {
  const url = urlOf(text.trim(), /^https?:$/, 'https://hc-ping.com/your-uuid');
  if (url instanceof Wrong) return url;
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
  const hosts = hostsOf(secret.reveal());
  const url = new URL(hosts[0].url);
  const user = of === 'database' ? url.username : url.username && MASK;
  const login = user || url.password ? `${user}${url.password && `:${MASK}`}@` : '';
  // Of a password with an unencoded & the rest would stand here as a name.
  const parameters = url.search && `?${MASK}`;
  const path = of === 'proxy' ? '' : url.pathname;
  const host = [url.host, ...hosts.slice(1).map(({ name }) => name)].join(',');
  return `${url.protocol}//${login}${host}${path}${parameters}`;
}

/** The secret parts of such a URL, as written and decoded. */
export function passwordsIn(secret: Secret, of: SecretUrl): string[] {
  if (of === 'hook') return tokensIn(new URL(secret.reveal()));
  const url = new URL(hostsOf(secret.reveal())[0].url);
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

function urlOf(text: string, protocol: RegExp, example: string): URL | Wrong {
  if (/[\s\p{Cc}\\]/u.test(text))
    return hidden('holds white space, a control character or a backslash');
  const scheme = /^([a-z][a-z\d+.-]*:)\/\//i.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined || !protocol.test(scheme)) return hidden(`is not a URL like ${example}`);
  try {
    const url = new URL(text);
    for (const part of [url.username, url.password, url.pathname]) decodeURIComponent(part);
    return url;
  } catch {
    const port = /^[^/]*\/\/[^/?#]*:(\d+)(?:[/?#][^@]*)?$/.exec(text)?.[1];
    if (Number(port) > 65_535) return hidden('has a port above 65535');
    return hidden(
      `is not a URL like ${example}; special characters in user and password are written as %xx`,
    );
  }
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
