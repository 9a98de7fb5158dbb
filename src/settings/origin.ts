/** An origin is the place that a setting's value came from. */

export interface Origin {
  readonly source: 'flag' | 'environment' | 'file' | 'default';
  /** `flag --page-length`, `environment DAYWALK_SINCE`, `daywalk.yaml:12:3`, `default` */
  readonly place: string;
}

export const DEFAULT: Origin = { source: 'default', place: 'default' };

/** What one place says about one setting, as it is written there. */
export interface Raw {
  readonly text: string;
  readonly origin: Origin;
  /** The place as messages name it; it may say more than the origin. */
  readonly place: string;
}
