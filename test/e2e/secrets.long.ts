/** More than e2e/secrets.test.ts: each way in which a key may come back is all that a program meets, and doctor meets it too. */
import { expect, test } from 'vitest';
import { API_KEY } from '../support/program.ts';
import { setScene } from '../support/scene.ts';
import {
  BACKFILL,
  columnsWithSecret,
  ENDING,
  FIRST,
  keyThatIsRotated,
  LATER,
  NEW_KEY,
  ROTATED,
  redirected,
  runRotated,
} from './echoes.ts';

const SETTINGS = { DAYWALK_RETRY_TIME: '0s' };

test.each(Object.entries({ ...ENDING, ...FIRST, ...LATER }))(
  'the key comes back in %s',
  async (name, echo) => {
    const good = name in LATER ? 3 : 0;
    const scene = await setScene({
      respond: ({ number }) => (number > good ? echo(API_KEY) : undefined),
    });
    const ended = await scene.run(BACKFILL, { ...SETTINGS, DAYWALK_LOG_LEVEL: 'trace' });
    expect(ended.code, ended.stderr).not.toBe(1);
    expect(await columnsWithSecret(scene)).toEqual([]);
    await scene.run(['doctor'], SETTINGS);
  },
);

test.each(Object.entries({ ...ROTATED, 'a redirect': redirected }))(
  'a key that was rotated comes back in %s',
  async (_, echo) => {
    const { scene, key } = await keyThatIsRotated(() => echo(NEW_KEY));
    for (const format of ['json', 'pretty'] as const)
      expect((await runRotated(scene, key, format)).code).toBe(echo === redirected ? 2 : 3);
    expect(await columnsWithSecret(scene, NEW_KEY)).toEqual([]);
  },
);
