/** The settings that a command works with, checked and complete, and where each of them came from. */
import type { Day, RecordTable, Stream } from '../model.ts';
import type { Origin } from './origin.ts';
import type { FieldMap } from './values/field-map.ts';
import type { ListenAddress } from './values/listen.ts';
import type { Secret } from './values/secret.ts';

/** Undefined is unset. Paths are absolute. */
export interface Settings {
  /** The settings file that was read. */
  readonly config: string | undefined;

  /** Origin and path prefix, no slash at the end. */
  readonly apiUrl: string | undefined;
  readonly apiKey: Secret | undefined;
  /** Where `apiKey` was read, so that a changed key can be read again. */
  readonly apiKeyFile: string | undefined;
  readonly apiAllowHttp: boolean;
  readonly apiCaFile: string | undefined;
  readonly apiClientCertFile: string | undefined;
  readonly apiClientKeyFile: string | undefined;
  readonly apiGzip: boolean;
  readonly httpProxy: Secret | undefined;
  readonly httpsProxy: Secret | undefined;
  readonly noProxy: string | undefined;

  /** Unset where `embedded`. */
  readonly databaseUrl: Secret | undefined;
  readonly databaseUrlFile: string | undefined;
  /** The embedded Postgres, with its data in `directory`. */
  readonly embedded: boolean;
  readonly directory: string;
  /** Milliseconds. */
  readonly statementTimeout: number;
  /** Milliseconds. */
  readonly databasePatience: number;

  /** Five cron fields, in UTC. */
  readonly schedule: string;
  /** IANA name. */
  readonly timezone: string;
  readonly since: Day | undefined;
  /** Milliseconds. */
  readonly settle: number;

  /** The streams to export, with the paths that hold for all of them filled in. */
  readonly streams: readonly Stream[];
  readonly recordsPath: readonly string[] | undefined;
  /** Null: there is no total that can be trusted. */
  readonly totalPath: readonly string[] | null | undefined;
  readonly idPath: readonly string[] | undefined;
  readonly timePath: readonly string[] | undefined;
  /** Milliseconds. */
  readonly retention: number | undefined;

  /** The record tables that the file defines. */
  readonly tables: readonly RecordTable[];

  readonly pageLength: number;
  readonly concurrency: number;
  /** Bytes. */
  readonly aheadMemory: number;
  readonly windowRecords: number;
  /** Requests a second. */
  readonly rate: number | undefined;
  readonly recheckDays: number;
  readonly keepBytes: 'when_refused' | 'always';
  /** Milliseconds. */
  readonly lease: number;
  /** Milliseconds. */
  readonly connectTimeout: number;
  /** Milliseconds. */
  readonly pageTimeout: number;
  /** Bytes. */
  readonly bodyLimit: number;
  /** Milliseconds. */
  readonly retryTime: number;
  /** Milliseconds. */
  readonly retryAfterLimit: number;
  readonly walkAttempts: number;

  /** Null: nowhere. */
  readonly archiveListen: ListenAddress | null;
  readonly archiveKey: Secret | undefined;
  readonly archiveKeyFile: string | undefined;
  /** Paths of keys in a record, by `time` and by parameters. */
  readonly archiveFields: FieldMap;
  /** A folder, or `s3://bucket/prefix`. */
  readonly tierUrl: string | undefined;
  readonly tierEndpoint: string | undefined;
  readonly tierRegion: string;
  readonly tierPathStyle: boolean;
  readonly tierAllowHttp: boolean;
  readonly tierCaFile: string | undefined;
  readonly tierKey: Secret | undefined;
  /** Where `tierKey` was read, so that a changed key can be read again. */
  readonly tierKeyFile: string | undefined;
  readonly tierSecret: Secret | undefined;
  readonly tierSecretFile: string | undefined;
  readonly tierSessionToken: Secret | undefined;
  readonly tierSessionTokenFile: string | undefined;
  /** Milliseconds. */
  readonly tierAfter: number | undefined;
  readonly tierLockDays: number | undefined;

  /** Null: nowhere. */
  readonly statusListen: ListenAddress | null;
  readonly statusHosts: readonly string[] | undefined;
  /** Milliseconds. */
  readonly lateAfter: number;
  readonly pingUrl: Secret | undefined;
  readonly pingUrlFile: string | undefined;
  readonly webhookUrl: Secret | undefined;
  readonly webhookUrlFile: string | undefined;
  readonly webhookFormat: 'json' | 'slack' | 'ntfy';
  readonly webhookDayProven: boolean;

  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal';
  readonly logFormat: 'json' | 'pretty' | 'auto';

  /** By the setting's name in the file: `page_length`, `streams.audit.filters.rule_level`; what is not in it is a default. */
  readonly origins: Readonly<Record<string, Origin>>;
}

/** Settings of a command that talks to the API. */
export interface ApiSettings extends Settings {
  readonly apiUrl: string;
  readonly apiKey: Secret;
}
