/** The Postgres of those who bring none: the optional package @daywalk/embedded-postgres, with its errors as ours. */
import type { EmbeddedDatabase, EmbeddedOptions } from '@daywalk/embedded-postgres';
import { SettingsError } from '../errors.ts';

/**
 * Starts the embedded Postgres of a folder, or joins it.
 * @throws {SettingsError} if it is not installed, or cannot be used here.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const embedded = await import('@daywalk/embedded-postgres').catch((cause: unknown) => {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new SettingsError(
      'there is no DATABASE_URL, and the embedded Postgres is not installed (npm package @daywalk/embedded-postgres)',
      {
        hint: 'run npm install without --omit=optional, or set DATABASE_URL=postgres://user:password@host/database to use a Postgres of your own',
        cause,
      },
    );
  });
  try {
    return await embedded.startEmbedded(options);
  } catch (error) {
    if (!(error instanceof embedded.EmbeddedPostgresError)) throw error;
    throw new SettingsError(error.message, { hint: error.hint, cause: error });
  }
}
