/** The connections to the API: keep-alive, one origin, TLS always checked, through a proxy where one is set. */
import { X509Certificate } from 'node:crypto';
import { createSecureContext, rootCertificates } from 'node:tls';
import { Agent, type Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import { SettingsError } from '../errors.ts';
import { isLoopbackHost } from '../hosts.ts';
import type { Address } from './address.ts';

/** PEM text of the TLS settings; all unset: the certificates that Node ships, no client certificate. */
export interface TlsOptions {
  /** Certificates to trust instead of the built-in ones, as `curl --cacert`. */
  readonly ca?: string | undefined;
  readonly clientCert?: string | undefined;
  readonly clientKey?: string | undefined;
  /** Whose settings they are, for messages. */
  readonly of?: 'api' | 'tier';
}

/** Proxy URLs by the scheme of the API, and the hosts to go to directly, as in `HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY`. */
export interface ProxyOptions {
  readonly http?: string | undefined;
  readonly https?: string | undefined;
  readonly no?: string | undefined;
}

/** What connections to the API are made with. */
export interface ConnectionOptions {
  readonly address: Address;
  readonly tls: TlsOptions;
  readonly proxy: ProxyOptions;
  readonly connections: number;
  readonly connectTimeoutMs: number;
}

/**
 * Of several addresses of a host each but the last may take so long to connect. Node gives each a quarter of a second, which is less than
 * the way around the earth takes: the one that works was given up for one of a family that this machine does not reach.
 */
const ADDRESS_MS = 1_500;

/**
 * Opens no connection yet.
 * @throws SettingsError for certificates, keys or proxy URLs that cannot be used; their content is not repeated.
 */
export function openDispatcher(options: ConnectionOptions): Dispatcher {
  const { address, connectTimeoutMs, connections } = options;
  const tls = { ...checkedTls(options.tls), rejectUnauthorized: true };
  const pool = {
    connections,
    // The one deadline of an attempt covers headers and body; undici's own are per chunk, and 300 s by default.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  // A short time is for more than one address, too.
  const ofAnAddress = Math.min(ADDRESS_MS, Math.ceil(connectTimeoutMs / 4));
  const connecting = { timeout: connectTimeoutMs, autoSelectFamilyAttemptTimeout: ofAnAddress };
  const connect = { ...tls, ...connecting };
  const proxy = proxyFor(options);
  if (proxy === undefined) return new Agent({ ...pool, connect });
  return new EnvHttpProxyAgent({
    ...pool,
    connect,
    // Given in full, so that undici does not look into the environment.
    httpProxy: proxy,
    httpsProxy: proxy,
    noProxy: options.proxy.no ?? '',
    ...loginOf(new URL(proxy)),
    requestTls: connect,
    proxyTls: {
      ...(tls.ca === undefined ? {} : { ca: [...rootCertificates, tls.ca] }),
      rejectUnauthorized: true,
      ...connecting,
    },
    // Plain HTTP goes in absolute form: many proxies refuse CONNECT to port 80.
    proxyTunnel: address.secure,
    factory: (origin, rest) => new Pool(origin, { ...pool, ...rest }),
    // A proxy that never answers a CONNECT would otherwise hold its connection for 300 s.
    clientFactory: (origin, rest) =>
      new Pool(origin, { ...rest, headersTimeout: connectTimeoutMs }),
  });
}

/**
 * The proxy for the API's scheme, as a URL that undici takes. Plain HTTP is allowed to this machine because it never leaves
 * it: a proxy would see the key.
 */
function proxyFor({ address, proxy }: ConnectionOptions): string | undefined {
  if (!address.secure && isLoopbackHost(new URL(address.origin).hostname)) return undefined;
  const text = address.secure ? proxy.https : proxy.http;
  if (text === undefined || text === '') return undefined;
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new SettingsError('the proxy is not an http or https URL', {
      hint: 'a proxy looks like http://proxy.example:3128; it is not shown here, as it may hold a password',
    });
  return text;
}

/** What a proxy is told of who asks; undici itself says nothing where there is no password, and tokens come as a user alone. */
const loginOf = ({ username, password }: URL) => {
  const login = decodeURIComponent(`${username}:${password}`);
  return username === '' ? {} : { token: `Basic ${Buffer.from(login).toString('base64')}` };
};

function checkedTls(tls: TlsOptions) {
  if (tls.ca !== undefined) checkCertificates(tls.ca, `${tls.of ?? 'api'}.ca_file`);
  const checked = { ca: tls.ca, cert: tls.clientCert, key: tls.clientKey };
  try {
    createSecureContext(checked);
  } catch (cause) {
    throw new SettingsError('api.client_cert_file and api.client_key_file cannot be used', {
      hint: 'both files are PEM text without a passphrase, and belong together',
      cause,
    });
  }
  return checked;
}

/** OpenSSL skips what it cannot read, and then trusts nobody; so every certificate is read here first. */
function checkCertificates(pem: string, setting: string): void {
  const found = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  try {
    if (found.length === 0) throw new Error('no certificate found');
    for (const certificate of found) new X509Certificate(certificate);
  } catch (cause) {
    throw new SettingsError(`the file of ${setting} holds no readable PEM certificate`, {
      hint: 'it is a text file with -----BEGIN CERTIFICATE-----',
      cause,
    });
  }
}
