/** Hosts: which are this machine, and those of a database URL, which may name several as libpq takes them: `postgres://user:password@first:5432,second:5433/database`. */

/** One of them. */
export interface Host {
  /** `first:5432`, as it stands in the URL; holds no secret. */
  readonly name: string;
  /** The URL with this host only. */
  readonly url: string;
}

/** Scheme and login, the hosts, and what follows. The login ends at the last @ of them, as it does for `URL`. */
const PARTS = /^([^/?#]*\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s;

/** The hosts of a database URL, in its order; `?port=` counts for each of them. */
export function hostsOf(url: string): readonly [Host, ...Host[]] {
  const [, before = '', hosts = '', after = url] = PARTS.exec(url) ?? [];
  const [first = '', ...others] = hosts.split(',');
  const host = (name: string): Host => ({ name, url: before + name + after });
  return [host(first), ...others.map(host)];
}

/** Whether a server that takes no writes is to be refused when a connection is made: of several hosts only one takes them. */
export function mustTakeWrites(url: string): boolean {
  return hostsOf(url).length > 1 || /[?&]target_session_attrs=/.test(url);
}

/** Whether a host, as URLs spell it or without brackets, is this machine. */
export const isLoopbackHost = (host: string): boolean =>
  /^(localhost|127(\.\d+){3}|\[?::1\]?)$/i.test(host);
