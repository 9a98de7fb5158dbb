/** Where the API is: the base URL, and the only form of it that messages show. */
import { SettingsError } from '../errors.ts';
import { isLoopbackHost } from '../hosts.ts';

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
 * Takes a base URL apart, as the settings have checked it.
 * @param allowHttp plain HTTP is allowed to hosts other than this machine.
 * @throws SettingsError where the key would go unencrypted.
 */
export function parseBase(baseUrl: string, allowHttp: boolean): Address {
  const { protocol, hostname, host, origin, pathname } = new URL(baseUrl);
  const secure = protocol === 'https:';
  if (!secure && !allowHttp && !isLoopbackHost(hostname))
    throw new SettingsError(`plain HTTP to ${host} would show the API key to the network`, {
      hint: 'use https, or set api.allow_http if the way there is protected otherwise',
    });
  const prefix = pathname.replace(/\/+$/, '');
  return { origin, prefix, host, secure, shown: origin + prefix };
}
