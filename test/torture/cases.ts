/** All cases, by family. */
import type { Case } from './case.ts';
import { body } from './cases/body.ts';
import { change } from './cases/change.ts';
import { decent } from './cases/decent.ts';
import { duplicates } from './cases/duplicates.ts';
import { http } from './cases/http.ts';
import { large } from './cases/large.ts';
import { paging } from './cases/paging.ts';
import { real } from './cases/real.ts';
import { time } from './cases/time.ts';

export const FAMILIES: Readonly<Record<string, readonly Case[]>> = {
  decent,
  http,
  body,
  paging,
  duplicates,
  time,
  change,
  large,
  real,
};
