/** Tables in the settings that the program does not take. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { temporaryFolder } from '../support/program.ts';
import { runHere } from '../support/program-here.ts';

/** A settings file is refused before anything is opened, with the place of what is wrong. */
export async function expectRefused(text: string, said: RegExp): Promise<void> {
  const wrong = join(temporaryFolder(), 'wrong.yaml');
  await writeFile(wrong, text);
  const ended = await runHere(['tables'], {
    environment: {
      DAYWALK_CONFIG: wrong,
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing',
    },
  });
  expect(ended).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toMatch(said);
  expect(ended.stderr).toMatch(/wrong\.yaml:\d+/);
}
