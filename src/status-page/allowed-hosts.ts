/** Under which names the server may be asked: a page of a stranger whose name leads to this machine (DNS rebinding) gets nothing. */
import { isIP } from 'node:net';

/**
 * Whether a `Host` header is one of ours: an address, `localhost`, or a name that was agreed upon. A stranger's page can
 * make a browser ask this machine, but only under the stranger's own name.
 * @param names in any case, without ports.
 */
export function isOurHost(header: string | undefined, names: readonly string[]): boolean {
  const found = /^(?:\[([\da-f:.]+)\]|([\w.-]+))(?::\d{1,5})?$/i.exec(header ?? '');
  if (found === null) return false;
  const [, address, name = ''] = found;
  if (address !== undefined) return isIP(address) === 6;
  const plain = name.toLowerCase().replace(/\.$/, '');
  return (
    isIP(plain) === 4 ||
    plain === 'localhost' ||
    names.some((known) => known.toLowerCase() === plain)
  );
}
