/** The streams that a person chose with `--stream`, out of those of the settings. */
import { SettingsError } from '../errors.ts';
import type { Stream } from '../model.ts';

/**
 * @param names what was typed; undefined: all.
 * @throws {SettingsError} for a name that no stream has.
 */
export function chosen(streams: readonly Stream[], names: unknown): readonly Stream[] {
  if (names === undefined) return streams;
  const wanted = String(names)
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const unknown = wanted.filter((name) => !streams.some((stream) => stream.name === name));
  if (unknown.length > 0 || wanted.length === 0)
    throw new SettingsError(
      `flag --stream: there is no stream ${JSON.stringify(unknown[0] ?? '')}`,
      {
        hint: `The streams are ${streams.map((stream) => stream.name).join(', ')}.`,
      },
    );
  return streams.filter((stream) => wanted.includes(stream.name));
}
