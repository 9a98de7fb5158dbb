/** Where the API is: the base URL, and the only form of it that messages show. */
import { SettingsError } from '../errors.ts';
import { isLoopbackHost } from '../hosts.ts';

/**
 * Takes a base URL apart, as the settings have checked it.
 * @param allowHttp plain HTTP is allowed to hosts other than this machine.
 * @throws SettingsError where the key would go unencrypted.
 */
export function parseBase(baseUrl: string, allowHttp: boolean) {
  const { protocol, hostname, host, origin, pathname } = new URL(baseUrl);
  const secure = protocol === 'https:';
  if (!secure && !allowHttp && !isLoopbackHost(hostname))
    throw new SettingsError(`plain HTTP to ${host} would show the API key to the network`, {
      hint: 'use https, or set api.allow_http if the way there is protected otherwise',
    });
  const prefix = pathname.replace(/\/+$/, '');
  return {
    /** Scheme, host and port. */
    origin,
    /** The path prefix without a slash at its end; often empty. */
    prefix,
    /** Host, with the port when it is not the scheme's own. */
    host,
    secure,
    /** Origin and path; safe to show. */
    shown: origin + prefix,
  };
}

/** The base URL in the pieces that a request needs. */
export type Address = Readonly<ReturnType<typeof parseBase>>;
