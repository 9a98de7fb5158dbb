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

/** How the export was found is noted, and what is news is told. Never fails. */
export type Alarm = (database: Database | null, troubles: readonly Trouble[]) => Promise<void>;

/** The alarm remembers in the database what was told; while that is away, in this process. */
export function openAlarm({ tell, streams: names, clock, log, strike }: AlarmParts): Alarm {
  const streams = [...names].sort();
  /** Since when it fails, as told while the database was away. */
  let toldAloneSince: Date | null = null;
  const say = (notification: Notification, troubles: readonly Trouble[]) =>
    tell(alarmWords(notification, streams, troubles, clock.now()));

  async function noteThere(database: Database, troubles: readonly Trouble[]): Promise<void> {
    const failing = troubles.length > 0;
    if (toldAloneSince !== null) {
      const since = toldAloneSince;
      await noteCondition(database, streams, { failing: true, problem: null, since });
      await noteNotified(database, streams, 'failing', true);
      toldAloneSince = null;
    }
    const problem = failing ? troubles.map(({ text }) => text).join('\n') : null;
    await noteCondition(database, streams, { failing, problem });
    const notification = await claimNotification(database, streams);
    if (notification === null) return;
    const told = await say(notification, troubles);
    await noteNotified(database, streams, notification.kind, told);
  }

  async function noteAlone(troubles: readonly Trouble[]): Promise<void> {
    if (troubles.length === 0 || toldAloneSince !== null) return;
    const since = new Date(clock.now());
    if (await say({ kind: 'failing', since }, troubles)) toldAloneSince = since;
  }

  return async (database, troubles) => {
    const struck = troubles.map(({ text, command }) => ({ text: strike(text), command }));
    try {
      if (database === null) throw new Error('there is no database');
      await noteThere(database, struck);
    } catch (error) {
      log.debug({ err: error }, 'what was told is not in the database');
      await noteAlone(struck);
    }
  };
}
