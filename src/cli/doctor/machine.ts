/** What the doctor finds on this machine: settings, Node.js, files with secrets, the calendar. */
import { stat } from 'node:fs/promises';
import { systemClock } from '../../clock.ts';
import { closesAt, dayAt, lastClosedDay } from '../../plan/days.ts';
import type { ApiSettings, Settings } from '../../settings/settings.ts';
import { SECRET_FILES } from '../../settings/table/table.ts';
import { counted, utcMinute } from '../../text.ts';
import { notBegun } from '../chosen-days.ts';
import type { Examination } from './examination.ts';
import { supportEnded } from './support.ts';

/** What others may do with a file: read it, or change it as another user of the group. */
const OPEN_TO_OTHERS = 0o027;

/** The settings file, and what Node.js it is. */
export function examineProgram({ config }: ApiSettings, { ok, warn }: Examination): void {
  ok('settings', config ?? 'no daywalk.yaml; environment and defaults');
  const { node } = process.versions;
  const ended = supportEnded('node', node, dayAt(systemClock.now(), 'UTC'));
  if (ended === null) ok('Node.js', node);
  else
    warn(
      'Node.js',
      `${node}, which has had no security fixes since ${ended}`,
      'Install Node.js 24.',
    );
}

/** The files that settings name and that hold a secret: nobody else should read them. */
export async function examineSecrets(settings: Settings, { ok, warn }: Examination): Promise<void> {
  const named = SECRET_FILES.map(([, file]) => settings[file]);
  const paths = [...named, settings.apiClientKeyFile].filter((path) => path !== undefined);
  let closed = 0;
  for (const path of paths) {
    // It has been read a moment ago; a pipe has gone since.
    const mode = await stat(path).then(
      (found) => found.mode & 0o777,
      () => 0,
    );
    if ((mode & OPEN_TO_OTHERS) === 0) closed += 1;
    else
      warn('secrets', `${path} is open to others (mode ${mode.toString(8)})`, `chmod 600 ${path}`);
  }
  if (closed > 0) ok('secrets', `closed to others: ${counted(closed, 'file')}`);
}

/** Which day is the newest that is closed, and whether the first one is still to come. @returns the newest closed day. */
export function examineCalendar(settings: Settings, now: number, { ok, warn }: Examination) {
  const { timezone, settle } = settings;
  const day = lastClosedDay(now, timezone, settle);
  const closed = utcMinute(new Date(closesAt(day, timezone, settle)));
  ok('time zone', `${timezone}: the newest closed day is ${day}, closed at ${closed}`);
  for (const found of notBegun(settings, now))
    warn('since', found, 'Is since right? It is written YYYY-MM-DD.');
  return day;
}
