/** Where to listen: `127.0.0.1:8642`, `[::1]:8642`, `localhost:8642`, or `off`. */
import { isIP } from 'node:net';
import type { ListenerParts } from '../../listener.ts';
import { Wrong } from '../problems.ts';

type ListenAddress = ListenerParts['address'];

/** Reads `address:port`; null for `off`. A port alone is refused, because it would say nothing about who can reach it. */
export function parseListen(text: string): ListenAddress | null | Wrong {
  if (/^(off|no|none)$/i.test(text)) return null;
  const found = /^(?:\[([^\]]+)\]|([^:\s]+)):(\d{1,5})$/.exec(text);
  const host = found?.[1] ?? found?.[2] ?? '';
  const port = Number(found?.[3]);
  if (found === null || port > 65_535)
    return new Wrong('is not an address and a port such as 127.0.0.1:8642, or off');
  if (found[1] !== undefined ? isIP(host) !== 6 : isIP(host) !== 4 && host !== 'localhost')
    return new Wrong(
      'does not begin with an address of this machine: 127.0.0.1, [::1], localhost, or 0.0.0.0 for all',
    );
  return { host, port };
}

/** As an operator would write it. */
export function formatListen(address: ListenAddress | null): string {
  if (address === null) return 'off';
  const { host, port } = address;
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
