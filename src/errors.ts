/** Errors are named by what to do about them; each carries a hint for the operator, and one table maps them to exit codes. */

/** What an error may carry besides its message. */
export interface ErrorDetails {
  /** What the operator can do, as a sentence. */
  readonly hint?: string | undefined;
  readonly cause?: unknown;
}

/** Anything that daywalk itself says is wrong. Its message names the place and what was found; it never holds a secret. */
export abstract class DaywalkError extends Error {
  /** What the operator can do, in lines. */
  hint: string | undefined;
  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = new.target.name;
    this.hint = details.hint;
  }

  /** More lines of it, by someone who knows what was being done. */
  addHint(...lines: readonly string[]): void {
    this.hint = [...(this.hint === undefined ? [] : [this.hint]), ...lines].join('\n');
  }
}

/** Fix the settings, the command line or the database's version, and run again. */
export class SettingsError extends DaywalkError {}

/** May pass by itself: retry. `retryAfterMs` is the least wait that the server asked for. */
export class TransientError extends DaywalkError {
  readonly retryAfterMs: number | undefined;
  /** The HTTP status, where an answer came. */
  readonly status: number | undefined;
  /** The deadline passed: less may be had in the same time. */
  readonly timedOut: boolean;
  constructor(
    message: string,
    details: ErrorDetails & {
      readonly retryAfterMs?: number | undefined;
      readonly status?: number;
      readonly timedOut?: boolean;
    } = {},
  ) {
    super(message, details);
    this.retryAfterMs = details.retryAfterMs;
    this.status = details.status;
    this.timedOut = details.timedOut ?? false;
  }
}

/** The API or the database stayed away through all retries: stop the run and try later. */
export class UnavailableError extends DaywalkError {
  readonly part: 'api' | 'database';
  constructor(part: 'api' | 'database', message: string, details: ErrorDetails = {}) {
    super(message, details);
    this.part = part;
  }
}

/** Where tiered days are kept, a folder or a bucket: away through all retries, or not as the settings say. */
export class ObjectStoreError extends DaywalkError {
  readonly fault: 'away' | 'settings';
  constructor(fault: 'away' | 'settings', message: string, details: ErrorDetails = {}) {
    super(message, details);
    this.fault = fault;
  }
}

/** The API answered with this HTTP status, and asking the same again will not help. */
abstract class StatusError extends DaywalkError {
  readonly status: number;
  constructor(status: number, message: string, details: ErrorDetails = {}) {
    super(message, details);
    this.status = status;
  }
}

/** The API refused the key (401, 403): stop at once, a lock-out may follow. */
export class RefusedError extends StatusError {}

/** What was asked for is not had so (3xx, 400, 404, 413, 422 …). */
export class RequestError extends StatusError {}

/** A 200 whose body is not what a page looks like: the API changed or something stands in front of it; never an empty day. */
export class EnvelopeError extends DaywalkError {}

/** An answer that tells of a failure itself, as others tell it by their status: it may be that of the length, the depth or the span. */
export class FaultError extends EnvelopeError {}

/** An answer that shows no record, and leaves open where list or total would be: it may be that of an empty window. */
export class NoRecordsError extends EnvelopeError {}

/** A body is larger than the limits allow: ask for less. */
export class TooLargeError extends DaywalkError {}

/** The database breaks off each time that it is sent this body: it may be too large, or one record in it that the database cannot take. */
export class UnstorableError extends TooLargeError {}

/** Whether what was asked for cannot be had: the answer is no page, a refusal, or too large. Others may be had all the same. */
export const isNoAnswer = (error: unknown): error is EnvelopeError | RequestError | TooLargeError =>
  error instanceof EnvelopeError || error instanceof RequestError || error instanceof TooLargeError;

/**
 * Why a walk could not end in a proof, as far as it matters for what follows: `contradicted` is all that fails its window at once,
 * `dense` that all its records stand too near to each other to be halved,
 * `broken` that what is stored of it is not what was walked.
 */
export type WalkFault =
  | 'shifted'
  | 'learned'
  | 'broken'
  | 'unsettled'
  | 'capped'
  | 'beyond-known-cap'
  | 'large'
  | 'dense'
  | 'page-failed'
  | 'unknown-answer'
  | 'contradicted';

/** A walk ended without a proof, or with proof that the window was not seen whole. */
export class WalkError extends DaywalkError {
  readonly fault: WalkFault;
  constructor(fault: WalkFault, message: string, details: ErrorDetails = {}) {
    super(message, details);
    this.fault = fault;
  }
}

/** A request that fails while the API answers others: shorter pages or smaller windows may fare better. */
export class PageFailedError extends WalkError {
  constructor(message: string, details: ErrorDetails = {}) {
    super('page-failed', message, details);
  }
}

/** Another worker holds the window now: drop everything in memory about it. */
export class LeaseLostError extends DaywalkError {}

/** The lease of this window is another worker's now, or was given up as its day is not over. */
export const leaseLost = (windowId: number): LeaseLostError =>
  new LeaseLostError(
    `another worker holds window ${windowId} now, or its day is not over by the clock of the database`,
  );

/** Someone asked us to stop (SIGINT, SIGTERM); checkpoints are safe. */
export class InterruptedError extends DaywalkError {
  readonly signal: 'SIGINT' | 'SIGTERM';
  constructor(signal: 'SIGINT' | 'SIGTERM') {
    super(`stopped by ${signal}`);
    this.signal = signal;
  }
}

/** Checks of a certificate that failed, by the names of OpenSSL (`X509_V_ERR_…`) and of Node, for which many of them have none. */
const BAD_CERTIFICATE =
  /^(?:CERT_|(?:DEPTH_ZERO_)?SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_|(?:CA|EE)_\w+_TOO_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_|UNSPECIFIED$)/;

/** Whether an error of this code refuses a certificate: waiting does not mend that. */
export const isBadCertificate = (code: string): boolean => BAD_CERTIFICATE.test(code);

/** Exit codes, as docs/verbs.md lists them. */
export const EXIT = {
  done: 0,
  unexpected: 1,
  settings: 2,
  gaps: 3,
  refused: 4,
  unavailable: 5,
  SIGINT: 130,
  SIGTERM: 143,
} as const;

/** What each of them says to whoever started the program. */
export const EXIT_MEANINGS: readonly (readonly [code: number, meaning: string])[] = [
  [EXIT.done, 'done'],
  [EXIT.unexpected, 'unexpected error: please report it'],
  [EXIT.settings, 'the command line or the settings are wrong; the message says which and where'],
  [
    EXIT.gaps,
    'finished, with failed windows, gaps, differences, records that the source lost, a stream that was given up, or something that could not be brought up to date',
  ],
  [EXIT.refused, 'the API refused the key (401, 403); nothing more was asked'],
  [EXIT.unavailable, 'the API or the database stayed away through all retries'],
  [EXIT.SIGINT, 'stopped by SIGINT (Ctrl-C); checkpoints are safe'],
  [EXIT.SIGTERM, 'stopped by SIGTERM; checkpoints are safe'],
];

/** How a run ended, in the word that is stored with it. */
export const RUN_OUTCOMES = [
  'done',
  'gaps',
  'refused',
  'unavailable',
  'interrupted',
  'settings',
  'unexpected',
] as const;
export type RunOutcome = (typeof RUN_OUTCOMES)[number];

/** The word for a run that `error` ended. */
export function outcomeOf(error: unknown): Exclude<RunOutcome, 'done'> {
  if (error instanceof SettingsError) return 'settings';
  if (error instanceof ObjectStoreError) return error.fault === 'away' ? 'unavailable' : 'settings';
  if (error instanceof RefusedError) return 'refused';
  if (error instanceof UnavailableError || error instanceof TransientError) return 'unavailable';
  if (error instanceof InterruptedError) return 'interrupted';
  return error instanceof WalkError || isNoAnswer(error) ? 'gaps' : 'unexpected';
}

/** The exit code that tells `error` to whoever started the program. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof InterruptedError) return EXIT[error.signal];
  const outcome = outcomeOf(error);
  return outcome === 'interrupted' ? EXIT.unexpected : EXIT[outcome];
}
