/** Certificates for TLS tests, made by openssl; `null` where there is no openssl. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Identity {
  readonly cert: string;
  readonly key: string;
}

/** What the tests need: an authority, and certificates that it signed. */
export interface Certificates {
  readonly ca: string;
  /** For 127.0.0.1. */
  readonly server: Identity;
  readonly otherName: Identity;
  readonly expired: Identity;
  /** Signed in a way that nobody trusts any more. */
  readonly weak: Identity;
  readonly client: Identity;
  /** Signed by nobody else. */
  readonly selfSigned: Identity;
}

export function makeCertificates(): Certificates | null {
  const folder = mkdtempSync(join(tmpdir(), 'daywalk-tls-'));
  const openssl = (...words: string[]): void => {
    execFileSync('openssl', words, { cwd: folder, stdio: 'pipe', timeout: 20_000 });
  };
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const own = (name: string, san: string, ...more: string[]): Identity => {
    const files = ['-keyout', `${name}.key`, '-out', `${name}.pem`, '-subj', `/CN=${name}`];
    openssl('req', '-x509', ...key, ...files, '-days', '30', '-addext', san, ...more);
    return { cert: read(`${name}.pem`), key: read(`${name}.key`) };
  };
  const signed = (name: string, san: string, days = 30, digest = '-sha256'): Identity => {
    openssl(
      'req',
      ...key,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.csr`,
      '-subj',
      `/CN=${name}`,
      '-addext',
      san,
    );
    const authority = [
      '-CA',
      'ca.pem',
      '-CAkey',
      'ca.key',
      '-CAcreateserial',
      '-copy_extensions',
      'copy',
    ];
    openssl(
      'x509',
      '-req',
      digest,
      '-in',
      `${name}.csr`,
      ...authority,
      '-days',
      `${days}`,
      '-out',
      `${name}.pem`,
    );
    return { cert: read(`${name}.pem`), key: read(`${name}.key`) };
  };
  const here = 'subjectAltName=IP:127.0.0.1';
  try {
    const ca = own('ca', 'keyUsage=critical,keyCertSign,cRLSign');
    return {
      ca: ca.cert,
      server: signed('server', here),
      otherName: signed('other', 'subjectAltName=DNS:other.example'),
      expired: signed('expired', here, 0),
      weak: signed('weak', here, 30, '-sha1'),
      client: signed('client', 'subjectAltName=DNS:client'),
      selfSigned: own('self', here),
    };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
