/** Where the API is: the base URL, checked once, and the only form of it that messages show. */
import { SettingsError } from '../errors.ts';

/** The base URL in the pieces that a request needs. */
export interface Address {
  /** Scheme, host and port. */
  readonly origin: string;
  /** The path prefix without a slash at its end; often empty. */
  readonly prefix: string;
  /** Host, with the port when it is not the scheme's own. */
  readonly host: string;
  readonly secure: boolean;
  /** Origin and path; safe to show. */
  readonly shown: string;
}

/**
 * Takes a base URL apart.
 * @param allowHttp plain HTTP is allowed to hosts other than this machine.
 * @throws SettingsError for anything that is not a plain `https://host[:port][/prefix]`; the URL is not
 *   repeated, because it may hold a password.
 */
export function parseBase(baseUrl: string, allowHttp: boolean): Address {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  // The settings have told before what is wrong with one.
  if (
    url === undefined ||
    !/^https?:$/.test(url.protocol) ||
    url.username + url.password + url.search + url.hash !== ''
  )
    throw new SettingsError('the base URL of the API is not an http or https URL with a path', {
      hint: 'api.url looks like https://soc.example or https://soc.example/tenant-7',
    });
  if (url.protocol === 'http:' && !allowHttp && !isLoopbackHost(url.hostname))
    throw new SettingsError(`plain HTTP to ${url.host} would show the API key to the network`, {
      hint: 'use https, or set api.allow_http if the way there is protected otherwise',
    });
  const prefix = url.pathname.replace(/\/+$/, '');
  return {
    origin: url.origin,
    prefix,
    host: url.host,
    secure: url.protocol === 'https:',
    shown: `${url.origin}${prefix}`,
  };
}

/** Whether a host name, as WHATWG URLs spell it, is this machine. */
export function isLoopbackHost(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname);
}
