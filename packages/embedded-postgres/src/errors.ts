/** What can keep the embedded Postgres from running, as an error that says what to do about it. */

/** What the operator can always do instead of using the embedded Postgres. */
const OWN_DATABASE =
  'set DATABASE_URL=postgres://user:password@host/database to use a Postgres of your own';

/** The embedded Postgres cannot be used; the hint says what a person can do. */
export class EmbeddedPostgresError extends Error {
  readonly hint: string;
  /** @param remedy what mends it; undefined: nobody knows. */
  constructor(message: string, remedy?: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'EmbeddedPostgresError';
    this.hint = remedy === undefined ? OWN_DATABASE : `${remedy}, or ${OWN_DATABASE}`;
  }
}

/** What an error says, for a sentence. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What comes of `work`; if it fails, an error that says `what` could not be done, and how a person can mend it. */
export async function explained<T>(work: Promise<T>, what: string, remedy: string): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    throw new EmbeddedPostgresError(`${what}: ${reasonOf(cause)}`, remedy, cause);
  }
}

/** Whether the system gave this code, such as ENOENT. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return codes.includes((error as NodeJS.ErrnoException | undefined)?.code ?? '');
}

/** Whether the system refused what was to be done with a file or a folder. */
export const isOfFile = (error: unknown): boolean =>
  error instanceof Error && 'syscall' in error && 'path' in error;
