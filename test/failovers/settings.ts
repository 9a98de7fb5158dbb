/** What the programs around Postgres are told: Patroni, HAProxy. */
import { join } from 'node:path';

/** What the settings of a node depend on. */
interface NodeFacts {
  readonly name: string;
  readonly folder: string;
  readonly port: number;
  readonly rest: number;
  /** The port by which the other node reaches it. */
  readonly reached: string;
  readonly etcd: number;
  readonly synchronous: boolean;
  /** The folder of Postgres' programs. */
  readonly bin: string;
}

/**
 * The settings of a Patroni node. Locks are short, so that a failover takes seconds. Processes die here, never the machine: what
 * the system has taken is not lost, and nothing needs to be on the disk.
 */
export function nodeSettings(facts: NodeFacts): unknown {
  const { name, folder, port, rest, reached, etcd, synchronous, bin } = facts;
  return {
    scope: 'failovers',
    name,
    restapi: { listen: `127.0.0.1:${rest}`, connect_address: `127.0.0.1:${rest}` },
    etcd3: { host: `127.0.0.1:${etcd}` },
    bootstrap: {
      dcs: {
        ttl: 8,
        loop_wait: 1,
        retry_timeout: 3,
        // What the standby does not get is not to keep it from being promoted.
        maximum_lag_on_failover: 2 ** 40,
        // A primary that was killed is not waited for.
        primary_start_timeout: 0,
        synchronous_mode: synchronous,
        postgresql: {
          use_pg_rewind: true,
          parameters: {
            fsync: 'off',
            max_connections: 60,
            shared_buffers: '32MB',
            wal_log_hints: 'on',
            wal_keep_size: '128MB',
            max_wal_size: '256MB',
            wal_retrieve_retry_interval: '500ms',
            hot_standby: 'on',
          },
        },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, { auth: 'trust' }],
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${reached}`,
      data_dir: join(folder, 'data'),
      bin_dir: bin,
      pgpass: join(folder, 'pgpass'),
      authentication: {
        superuser: { username: 'postgres' },
        replication: { username: 'postgres' },
      },
      parameters: { unix_socket_directories: folder },
      pg_hba: [
        'local all all trust',
        'host all all 127.0.0.1/32 trust',
        'host replication all 127.0.0.1/32 trust',
      ],
      remove_data_directory_on_rewind_failure: true,
      remove_data_directory_on_diverged_timelines: true,
    },
  };
}

/** HAProxy before the nodes: it asks each Patroni which node leads, and ends the sessions of one that does not any more. */
export function haproxySettings(
  port: number,
  nodes: readonly { readonly name: string; readonly port: number; readonly rest: number }[],
): string {
  const servers = nodes.map(
    (node) => `  server ${node.name} 127.0.0.1:${node.port} check port ${node.rest}`,
  );
  return `defaults
  mode tcp
  timeout connect 2s
  timeout client 30m
  timeout server 30m
listen primary
  bind 127.0.0.1:${port}
  option httpchk GET /primary
  http-check expect status 200
  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
${servers.join('\n')}
`;
}
