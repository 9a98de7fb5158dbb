/** The settings that a command works with, checked and complete, and where each of them came from. */
import type { RecordTable, Stream } from '../model.ts';
import type { Secret } from './values/secret.ts';
import type { SettingValues } from './values/value.ts';

/** The place that a setting's value came from. */
export interface Origin {
  readonly source: 'flag' | 'environment' | 'file' | 'default';
  /** `flag --page-length`, `environment DAYWALK_SINCE`, `daywalk.yaml:12:3`, `default` */
  readonly place: string;
}

export const DEFAULT: Origin = { source: 'default', place: 'default' };

/** One value for every row of the table, of the type that the row says. Undefined is unset. Paths are absolute. */
export interface Settings extends Omit<SettingValues, 'streams'> {
  /** The streams to export, with the paths that hold for all of them filled in. */
  readonly streams: readonly Stream[];
  /** The record tables that the file defines. */
  readonly tables: readonly RecordTable[];
  /** By the setting's name in the file: `page_length`, `streams.audit.filters.rule_level`; what is not in it is a default. */
  readonly origins: Readonly<Record<string, Origin>>;
}

/** Settings of a command that talks to the API. */
export interface ApiSettings extends Settings {
  readonly apiUrl: string;
  readonly apiKey: Secret;
}

/** When a day should be complete. */
export const expectationOf = ({ timezone, settle, schedule, lateAfter }: Settings) => ({
  timeZone: timezone,
  settleMs: settle,
  schedule,
  lateAfterMs: lateAfter,
});

/** The proxies of the settings, with their passwords, as a dispatcher takes them. */
export const proxyOf = ({ httpProxy, httpsProxy, noProxy }: Settings) => ({
  http: httpProxy?.reveal(),
  https: httpsProxy?.reveal(),
  no: noProxy,
});
