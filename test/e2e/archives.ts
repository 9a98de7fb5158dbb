/** Archives that are exported from a simulated source and served, and questions to them. */
import { expect } from 'vitest';
import type { SimulatorOptions } from '../../simulator/simulator.ts';
import { REFERENCE } from '../simulator/asking.ts';
import { backfillHere } from '../support/backfill-here.ts';
import { createTestDatabase } from '../support/database.ts';
import { difference, recordTexts } from '../support/multiset.ts';
import { type Program, runProgram } from '../support/program.ts';
import { type Scene, setScene } from '../support/scene.ts';

export const KEY = 'key-of-the-archive-7f3a';
export const SETTINGS = { DAYWALK_ARCHIVE_KEY: KEY, DAYWALK_ARCHIVE_LISTEN: '127.0.0.1:0' };

/** A served archive, and the scene that it was exported in. */
export interface Archive {
  readonly scene: Scene;
  readonly url: string;
  readonly program: Program;
}

/** Serves what a scene has stored. */
export async function serve(scene: Scene, settings: Record<string, string> = {}): Promise<Archive> {
  const program = scene.start(['serve-archive'], { ...SETTINGS, ...settings });
  const [, url = ''] = await program.saying(/serving .* at (http:\/\/\S+)\s/);
  return { scene, url, program };
}

/** The parameters of the reference request with these changes. */
export const queryOf = (changes: Record<string, string>) =>
  Object.entries({ ...REFERENCE, ...changes })
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&');

/** Asks an archive. */
export async function ask(
  url: string,
  changes: Record<string, string> = {},
  { resource = 'events', key = KEY, more = '' } = {},
) {
  const answer = await fetch(`${url}/api/${resource}?${queryOf(changes)}${more}`, {
    headers: { 'X-API-Key': key, Accept: 'application/json', 'Content-Type': 'application/json' },
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text, body: JSON.parse(text) };
}

/** What is copied: the days at both ends of a copy need their neighbours in the archive, as what lies across midnight is asked there, too. */
interface Copying {
  readonly stored: readonly [from: string, to: string];
  readonly copied: readonly string[];
  /** Of which streams; both otherwise. */
  readonly views?: readonly ('events' | 'smart_events')[];
}

/** Exports days from a source, serves them, exports some of them from there, and expects the same records. */
export async function expectSameCopied(
  options: SimulatorOptions,
  { stored: [first, last], copied, views = ['events', 'smart_events'] }: Copying,
): Promise<void> {
  const streams = views.map((view) => (view === 'events' ? 'events' : 'smart-event')).join();
  const scene = await setScene({ eventsPerDay: 80, ...options });
  await backfillHere(
    scene,
    { from: first, to: last },
    { environment: { DAYWALK_STREAMS: streams } },
  );
  const { url, program } = await serve(scene);
  const copy = await createTestDatabase();
  const [from = '', to = from] = [copied[0], copied.at(-1)];
  const ended = await runProgram(['backfill', '--from', from, '--to', to], {
    environment: {
      DAYWALK_API_URL: url,
      DAYWALK_API_KEY: KEY,
      DATABASE_URL: copy.url,
      DAYWALK_PAGE_LENGTH: '37',
      DAYWALK_STREAMS: streams,
    },
    secrets: [KEY],
  });
  expect(ended, ended.stdout + ended.stderr + program.said()).toMatchObject({ code: 0 });
  for (const view of views)
    for (const day of copied) {
      const wanted = await recordTexts(scene.database, view, day);
      const found = await recordTexts(copy, view, day);
      expect({ view, day, missing: difference(wanted, found) }).toEqual({
        view,
        day,
        missing: [],
      });
      expect({ view, day, strange: difference(found, wanted) }).toEqual({
        view,
        day,
        strange: [],
      });
    }
  // Several pages of each day.
  expect((await recordTexts(copy, 'events')).length).toBeGreaterThan(37 * copied.length);
}
