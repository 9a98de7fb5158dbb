/** TLS is always checked; what is wrong with a certificate is a matter of settings, never of another try. */
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SettingsError, UnavailableError } from '../../src/errors.ts';
import { type Certificates, type Identity, makeCertificates } from '../support/certificates.ts';
import { open } from './open.ts';
import { emptyPage, scriptedServer } from './scripted-server.ts';

const made = makeCertificates();

describe.runIf(made !== null)(made === null ? 'TLS (openssl not installed)' : 'TLS', () => {
  // The body of a group that is skipped is read, too.
  const certificates = (made ?? { client: {}, server: {} }) as Certificates;
  const { ca, client } = certificates;
  const serve = ({ cert, key }: Identity, more = {}) =>
    scriptedServer([emptyPage], { cert, key, ...more });

  test('a CA file makes a private certificate trusted', async () => {
    const server = await serve(certificates.server);
    const { fetch } = open(server.url, { tls: { ca } });
    expect(await fetch()).toMatchObject({ requests: 1 });
  });

  test.each([
    ['unknown', 'server', {}, 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
    ['self-signed', 'selfSigned', {}, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['self-signed in spite of a CA file', 'selfSigned', { ca }, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ['expired', 'expired', { ca }, 'CERT_HAS_EXPIRED'],
    ['for another name', 'otherName', { ca }, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['signed by SHA-1', 'weak', { ca }, 'UNSPECIFIED'],
  ] as const)('a certificate that is %s ends it at once', async (_, which, tls, code) => {
    const server = await serve(certificates[which], { ciphers: 'DEFAULT:@SECLEVEL=0' });
    const { fails, clock } = open(server.url, { tls });
    const error = await fails();
    expect(error).toBeInstanceOf(SettingsError);
    expect(error.message).toContain(`the certificate of 127.0.0.1:${server.port} is not trusted`);
    expect(error.message).toContain(code);
    expect(error).toMatchObject({ hint: expect.stringContaining('api.ca_file') });
    expect([server.heads, clock.waits]).toEqual([[], []]);
  });

  test('NODE_TLS_REJECT_UNAUTHORIZED=0 changes nothing', async () => {
    const server = await serve(certificates.selfSigned);
    const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    try {
      expect(await open(server.url).fails()).toBeInstanceOf(SettingsError);
    } finally {
      if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
      else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before;
    }
    expect(server.heads).toEqual([]);
  });

  test.each([
    ['ends for a fault of its own (80)', 80],
    ['could not decipher (20)', 20],
  ])('a handshake that the server %s is made again', async (_, alert) => {
    let times = 0;
    const server = createServer((socket) => {
      socket.on('error', () => {});
      times += 1;
      socket.once('data', () => socket.end(Buffer.from([0x15, 3, 3, 0, 2, 2, alert])));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const error = await open(`https://127.0.0.1:${port}`, { retryTimeMs: 5_000 }).fails();
    expect(error).toBeInstanceOf(UnavailableError);
    expect(times).toBeGreaterThan(1);
  });

  test('a client certificate is shown to a server that asks for one', async () => {
    const server = await serve(certificates.server, {
      ca,
      requestCert: true,
      rejectUnauthorized: true,
    });
    const tls = { ca, clientCert: client.cert, clientKey: client.key };
    expect(await open(server.url, { tls }).fetch()).toMatchObject({ requests: 1 });
  });

  test('a server that does not speak TLS is named', async () => {
    const server = createServer((socket) =>
      socket
        .on('error', () => {})
        .once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const error = await open(`https://127.0.0.1:${port}`).fails();
    expect(error).toBeInstanceOf(SettingsError);
    expect(error.message).toBe(`127.0.0.1:${port} does not speak TLS`);
  });

  test.each([
    ['a CA file without a certificate', { ca: 'no certificate' }],
    [
      'a broken certificate',
      { ca: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----' },
    ],
    [
      'a key that belongs to another certificate',
      { clientCert: client.cert, clientKey: certificates.server.key },
    ],
    ['a client certificate that is none', { clientCert: 'x', clientKey: 'y' }],
  ])('%s is refused before any request', (_, tls) => {
    expect(() => open('https://soc.example', { tls })).toThrow(SettingsError);
  });
});
