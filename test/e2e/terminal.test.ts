/** Text from the API, or from whoever writes to the database, can steer no terminal: not in logs, not in any verb's output. */
import { expect, test } from 'vitest';
import { setScene } from '../support/scene.ts';

/** Sets the title, clears, moves and colours, in 7 and 8 bits; turns the direction; breaks lines. */
const HOSTILE =
  '\u001b]0;mine\u0007\u001b[2J\u009b31mred\u202egnirts\u2028line\r\ndaywalk: all is well\u0000';
/** The same in JSON, as an API may send it, and as Postgres keeps it: it knows no U+0000. */
const KEPT = HOSTILE.replace('\u0000', '');
const BACKFILL = ['backfill', '--from', '2026-03-01', '--to', '2026-03-01'];

/** What a terminal would obey; a line feed is ours. */
const OBEYED = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u;
const ourLines = (text: string) => text.replaceAll('\n', '');

test('an answer with hostile keys and texts, and text that somebody else wrote into the tables, are told harmlessly', async () => {
  const scene = await setScene({
    respond: () => ({
      body: JSON.stringify({ [KEPT]: [{ a: 1 }], [`${KEPT}2`]: [{ a: 1 }], error: HOSTILE }),
    }),
  });
  const tell = async (...args: string[]) => {
    const { stdout, stderr } = await scene.here(args);
    expect(ourLines(stdout + stderr)).not.toMatch(OBEYED);
    expect(stdout + stderr).not.toMatch(/^daywalk: all is well/m);
    return stdout;
  };
  await tell(...BACKFILL);
  await tell('gaps', '--json');
  // One stream still has what came of the answer.
  await scene.database.query(
    `update daywalk.windows set last_error = $1, lease_owner = $1, due_at = clock_timestamp()
      where stream_id = (select min(stream_id) from daywalk.streams)`,
    [KEPT],
  );
  await scene.database.query(`update daywalk.runs set error = $1, outcome = 'gaps'`, [KEPT]);
  await tell('status');
  await tell('status', '--json');
  await tell('why', '2026-03-01');
  await tell('doctor');
  expect(await tell('gaps')).toContain('\\u001b]0;mine\\u0007');
});

test('log lines have colours where FORCE_COLOR or a terminal asks for them, and none with NO_COLOR', async () => {
  const scene = await setScene({ eventsPerDay: 20 });
  const colours = async (environment: Record<string, string>) => {
    const { stderr } = await scene.succeed(BACKFILL, {
      DAYWALK_STREAMS: 'events',
      DAYWALK_LOG_FORMAT: 'pretty',
      ...environment,
    });
    expect(stderr).toContain('planned');
    return stderr.includes('\u001b[');
  };
  expect(await colours({ FORCE_COLOR: '1' })).toBe(true);
  expect(await colours({ NO_COLOR: '1' })).toBe(false);
});
