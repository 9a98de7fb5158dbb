/** Reading is turning what the places say into one value for each setting. */
import { DEFAULT, type Raw } from './origin.ts';
import { type Problems, Wrong } from './problems.ts';
import { ROWS, SETTINGS, type SettingKey } from './table/table.ts';
import { Secret } from './values/secret.ts';
import { passwordsIn } from './values/url.ts';
import { parseValue, type Value } from './values/value.ts';

/** What has been read so far. The first place that says something decides, but a wrong value is wrong in any place. */
export class Reading {
  /** Values that are right. */
  readonly values = new Map<SettingKey, Value>();
  /** What decided, right or wrong. */
  readonly raws = new Map<SettingKey, Raw>();
  readonly #problems: Problems;
  constructor(problems: Problems) {
    this.#problems = problems;
  }

  /** Reads what the next place says; places are given in the order of their rank. */
  take(raws: ReadonlyMap<SettingKey, Raw>): void {
    for (const [key, raw] of raws) {
      const { kind, secret } = SETTINGS[key];
      if (secret) this.#problems.hide(raw.text);
      const value = parseValue(kind, raw.text, raw.folder);
      if (value instanceof Wrong) this.#problems.addWrong(raw.place, raw.text, value);
      else if (value instanceof Secret && kind.kind === 'url' && kind.of !== 'api')
        for (const password of passwordsIn(value, kind.of)) this.#problems.hide(password);
      if (this.raws.has(key)) continue;
      this.raws.set(key, raw);
      if (!(value instanceof Wrong)) this.values.set(key, value);
    }
  }

  /** Fills in the defaults, after all places. */
  takeDefaults(folder: string): void {
    const { place } = DEFAULT;
    this.take(
      new Map(
        ROWS.flatMap(({ key, default: text }): [SettingKey, Raw][] =>
          text === null || this.raws.has(key)
            ? []
            : [[key, { text, origin: DEFAULT, place, folder }]],
        ),
      ),
    );
  }

  /** Forgets a setting that another one makes void. */
  drop(key: SettingKey): void {
    this.values.delete(key);
    this.raws.delete(key);
  }
}
