/** Sources that `daywalk doctor` examines, and what it is to say of them. */
import { expect, onTestFinished } from 'vitest';
import {
  type Fault,
  type Hook,
  type SimulatorOptions,
  startSimulator,
} from '../../simulator/simulator.ts';
import { examineApi } from '../../src/cli/doctor/api.ts';
import { describeFindings, Examination } from '../../src/cli/doctor/examination.ts';
import { systemClock } from '../../src/clock.ts';
import { loadSettings } from '../../src/settings/load.ts';
import type { ApiSettings } from '../../src/settings/settings.ts';
import { openSource } from '../../src/source/source.ts';
import { dayAgo } from '../support/days.ts';
import { API_KEY } from '../support/program.ts';
import { SOURCE } from '../support/source-options.ts';

/** Nobody listens there. */
export const CLOSED = 'http://127.0.0.1:1';

export const linesOf = (text: string) => text.trimEnd().split('\n');

/** What `daywalk doctor` finds at an API, by stream, and says of it; the program is started where it says more. */
export async function examined(
  options: SimulatorOptions,
  environment: Readonly<Record<string, string>> = {},
  day = dayAgo(1),
) {
  const api = await startSimulator({ key: API_KEY, seed: 'e2e', eventsPerDay: 230, ...options });
  onTestFinished(() => api.close());
  const settings = loadSettings({
    flags: {},
    environment: { DAYWALK_API_URL: api.url, DAYWALK_API_KEY: API_KEY, ...environment },
    cwd: '/',
    require: ['api'],
  }) as ApiSettings;
  const source = openSource({ ...SOURCE, baseUrl: api.url, key: API_KEY, clock: systemClock });
  onTestFinished(() => source.close());
  const examination = new Examination();
  const { signal } = new AbortController();
  const database = undefined;
  await examineApi({ source, database, settings, day, signal, examination });
  const said = describeFindings(examination.findings).join('\n');
  expect(examination.exitCode, said).toBe(0);
  const identities = settings.streams.map(
    ({ name }) => examination.identities.get(name)?.join('.') ?? null,
  );
  return { said, identities };
}

/** The zone of a source, that of the settings, what is said. */
type Zones = readonly [source: string, set: string, says: RegExp, day?: string];

export async function expectZoneTold(...[timeZone, set, says, day]: Zones): Promise<void> {
  const source = { timeZone, eventsPerDay: 2000 };
  const { said } = await examined(source, { DAYWALK_TIMEZONE: set }, day);
  expect(said).toMatch(says);
}

/** Settings with pages longer than some APIs give. */
export const LONG_PAGES = () => ({ DAYWALK_PAGE_LENGTH: '200', DAYWALK_SINCE: dayAgo(1) });

/** Said where pages of 150 are refused, and shorter ones given. */
export const SHORTER_PAGES =
  /^✓ length events +pages go up to 100 records; page_length is 200\n.*→ A run finds/m;

/** Said of a number that behaves like a total. */
export const SUGGESTED_TOTAL =
  /^! total events +result\.count looks like a total: .*\n.*→ Set total_path: result\.count; without it about twice as many requests/m;

export async function expectNoTotalIn(totals: SimulatorOptions['totals']): Promise<void> {
  const { said } = await examined({ envelope: 'nested', ...(totals && { totals }) });
  expect(said).not.toMatch(/looks like a total/);
}

/** A stream that answers so has no records, and that is no error. */
export async function expectNothingTold(answer: Fault): Promise<void> {
  const { said } = await examined({
    respond: ({ resource }) => (resource === 'smart-event' ? answer : undefined),
  });
  expect(said).toMatch(/^! stream smart-event +API reached, key accepted.*no records from/m);
  expect(said).toMatch(
    /^ +→ .*a day counts as empty only where an empty list comes and nothing else/m,
  );
}

/** A record of a day, and where it stands in an answer. */
export interface Placed {
  readonly number: number;
  readonly row: number;
  readonly place: number;
  readonly total: number;
}

/** A source of days with so many records, of which this makes fields from where they stand in an answer. */
export function listing(fields: (placed: Placed) => object, count = 60): Hook {
  return ({ query: { fromDate = '', toDate = '', start, length } }) => {
    const all = Array.from({ length: count }, (_, number) => {
      const at = new Date(Date.parse(`${fromDate.slice(0, 10)}T00:10:00Z`) + number * 1_430_000);
      return { number, timestamp: at.toISOString() };
    }).filter(({ timestamp }) => {
      const time = timestamp.slice(0, 19).replace('T', ' ');
      return time >= fromDate && time <= toDate;
    });
    const data = all
      .slice(Number(start), Number(start) + Number(length))
      .map(({ number, timestamp }, row) => ({
        ...fields({ number, row, place: Number(start) + row, total: all.length }),
        timestamp,
        user: `u${number}`,
      }));
    return { body: JSON.stringify({ total: all.length, data }) };
  };
}
