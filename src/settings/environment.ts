/** The environment: the only place that reads it, and the check that no name in it is a slip. */
import type { Problems } from './problems.ts';
import { ROWS } from './table/table.ts';
import { didYouMean } from './values/spelling.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A copy of this process's environment. */
export function readEnvironment(): Environment {
  return Object.assign(Object.create(null), process.env);
}

/** What Docker links and Kubernetes put there by themselves if a service is called `daywalk`, or `daywalk-postgres`. */
const SERVICE_LINK =
  /^DAYWALK_(NAME|PORT|(\w+_)?(SERVICE_HOST|SERVICE_PORT\w*|PORT_\d+_(TCP|UDP|SCTP)(_(ADDR|PORT|PROTO))?))=|^DAYWALK_\w+_PORT=(tcp|udp|sctp):/;

/** Refuses names that only look like ours, and what would take the protection off the key. */
export function checkEnvironment(environment: Environment, problems: Problems): void {
  const known = new Set(ROWS.flatMap((row) => row.env));
  for (const [name, value] of Object.entries(environment)) {
    if (!/^DAYWALK_/i.test(name) || known.has(name) || !value?.trim()) continue;
    if (SERVICE_LINK.test(`${name}=${value}`)) continue;
    problems.add(
      `environment ${name.slice(0, 80)}`,
      `there is no such setting${hint(name, known)}`,
    );
  }
  // Undici and tls read it behind our back; then any machine on the way could ask for the key.
  if (environment.NODE_TLS_REJECT_UNAUTHORIZED === '0')
    problems.add(
      'environment NODE_TLS_REJECT_UNAUTHORIZED',
      '0 switches the check of certificates off; remove it and name the authority in DAYWALK_API_CA_FILE',
    );
}

function hint(name: string, known: ReadonlySet<string>): string {
  const base = name.replace(/_FILE$/, '');
  if (base !== name && known.has(base)) return `: ${base} cannot come from a file`;
  // Compared without the prefix, which would make everything look alike.
  const plain = (one: string) => one.replace(/^DAYWALK_/i, '');
  return didYouMean(plain(name), known, plain);
}
