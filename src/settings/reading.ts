/** Reading is turning what the places say into one value for each setting. */

import { Problems, Wrong } from './problems.ts';
import type { Origin } from './settings.ts';
import { type ReadFile, readText } from './small-files.ts';
import { isSecret } from './table/setting.ts';
import { SETTINGS, type SettingKey } from './table/table.ts';
import { Secret } from './values/secret.ts';
import { passwordsIn } from './values/url.ts';
import { parseValue, type Value } from './values/value.ts';

/** What one place says about one setting, as it is written there. */
interface Raw {
  readonly text: string;
  readonly origin: Origin;
  /** The place as messages name it; it may say more than the origin. */
  readonly place: string;
}

/** What has been read so far. The first place that says something decides, but a wrong value is wrong in any place. */
export class Reading {
  /** Values that are right. */
  readonly values = new Map<SettingKey, Value>();
  /** What decided, right or wrong. */
  readonly raws = new Map<SettingKey, Raw>();
  /** Where the parts of the file come from that are no rows of the table, by name: `streams.audit.filters.rule_level`. */
  readonly origins = new Map<string, Origin>();
  readonly problems = new Problems();
  /** What relative paths are relative to, where nothing else is said. */
  readonly #cwd: string;
  readonly #readFile: ReadFile;
  constructor(cwd: string, readFile: ReadFile) {
    this.#cwd = cwd;
    this.#readFile = readFile;
  }

  /** The text of a file, or what is wrong with it. */
  readText(path: string): string | Wrong {
    return readText(path, this.#readFile);
  }

  /**
   * Reads what the next place says of a setting; places are given in the order of their rank.
   * `place` is what messages name, where they say more than the origin.
   */
  take(
    key: SettingKey,
    text: string,
    origin: Origin,
    { place = origin.place, folder = this.#cwd }: { place?: string; folder?: string } = {},
  ): void {
    const { kind } = SETTINGS[key];
    if (isSecret(kind)) this.problems.hide(text);
    const value = parseValue(kind, text, folder);
    if (value instanceof Wrong) this.problems.addWrong(place, text, value);
    else if (value instanceof Secret && kind.kind === 'secretUrl')
      for (const password of passwordsIn(value, kind.of)) this.problems.hide(password);
    if (this.raws.has(key)) return;
    this.raws.set(key, { text, origin, place });
    if (!(value instanceof Wrong)) this.values.set(key, value);
  }

  /** Tells what is wrong with a setting as it is, at the place that decided. */
  wrong(key: SettingKey, what: string): void {
    this.problems.add(this.raws.get(key)?.place ?? SETTINGS[key].name, what);
  }

  /** Forgets a setting that another one makes void. */
  drop(key: SettingKey): void {
    this.values.delete(key);
    this.raws.delete(key);
  }
}
