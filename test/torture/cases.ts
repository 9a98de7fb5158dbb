/** All cases, by family. */
import type { Case } from './case.ts';
import { believed } from './cases/believed.ts';
import { body } from './cases/body.ts';
import { change } from './cases/change.ts';
import { decent } from './cases/decent.ts';
import { duplicates } from './cases/duplicates.ts';
import { http } from './cases/http.ts';
import { kept } from './cases/kept.ts';
import { large } from './cases/large.ts';
import { paging } from './cases/paging.ts';
import { real } from './cases/real.ts';
import { stuck } from './cases/stuck.ts';
import { time } from './cases/time.ts';

export const FAMILIES: Readonly<Record<string, readonly Case[]>> = {
  decent,
  http,
  body,
  paging,
  duplicates,
  time,
  change,
  believed,
  kept,
  stuck,
  large,
  real,
};
