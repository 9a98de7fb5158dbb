/** The alarm: tells people when the export begins to fail, once a day while it fails, and when it has recovered. */
import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import type { Database } from '../store/database.ts';
import { alarmWords, type Trouble, type Words } from './message.ts';
import { claimNotification, type Notification, noteCondition, noteNotified } from './rows.ts';

/** What the alarm needs. */
export interface AlarmParts {
  /** Whether the words were taken. */
  readonly tell: (words: Words) => Promise<boolean>;
  /** The streams of the settings. */
  readonly streams: readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
  /** Strikes secrets out of foreign text. */
  readonly strike: (text: string) => string;
}

/** Remembers in the database what was told; while that is away, in this process. */
export class Alarm {
  readonly #parts: AlarmParts;
  readonly #streams: readonly string[];
  /** Since when it fails, as told while the database was away. */
  #toldAloneSince: Date | null = null;

  constructor(parts: AlarmParts) {
    this.#parts = parts;
    this.#streams = [...parts.streams].sort();
  }

  /** Takes in how the export was found, and tells what is news. Never fails. */
  async note(database: Database | null, troubles: readonly Trouble[]): Promise<void> {
    const struck = troubles.map(({ text, command }) => ({
      text: this.#parts.strike(text),
      command,
    }));
    try {
      if (database === null) throw new Error('there is no database');
      await this.#noteThere(database, struck);
    } catch (error) {
      this.#parts.log.debug({ err: error }, 'what was told is not in the database');
      await this.#noteAlone(struck);
    }
  }

  async #noteThere(database: Database, troubles: readonly Trouble[]): Promise<void> {
    const failing = troubles.length > 0;
    const since = this.#toldAloneSince;
    if (since !== null) {
      await noteCondition(database, this.#streams, { failing: true, problem: null, since });
      await noteNotified(database, this.#streams, 'failing', true);
      this.#toldAloneSince = null;
    }
    const problem = failing ? troubles.map(({ text }) => text).join('\n') : null;
    await noteCondition(database, this.#streams, { failing, problem });
    const notification = await claimNotification(database, this.#streams);
    if (notification === null) return;
    const told = await this.#tell(notification, troubles);
    await noteNotified(database, this.#streams, notification.kind, told);
  }

  async #noteAlone(troubles: readonly Trouble[]): Promise<void> {
    if (troubles.length === 0 || this.#toldAloneSince !== null) return;
    const since = new Date(this.#parts.clock.now());
    if (await this.#tell({ kind: 'failing', since }, troubles)) this.#toldAloneSince = since;
  }

  #tell(notification: Notification, troubles: readonly Trouble[]): Promise<boolean> {
    const { tell, clock } = this.#parts;
    return tell(alarmWords(notification, this.#streams, troubles, clock.now()));
  }
}
