/** SIGKILL at random moments, hundreds of them, while ranges of days are exported one after the other. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect, inject, test } from 'vitest';
import type { SimulatorOptions } from '../../simulator/simulator.ts';
import { dice } from '../support/dice.ts';
import { expectLittleAgain, inFlight } from './again.ts';
import { note } from './collect.ts';
import { openStage, type Peril } from './stage.ts';

/** In each campaign; fewer for a quick look. */
const KILLS = Number(process.env.CHAOS_KILLS ?? 130);
const DAYS_IN_A_RANGE = 3;
/** A life is killed at a call up to this one, or lives to its end. */
const LAST_CALL = 70;

const ENVIRONMENT = { DAYWALK_PAGE_LENGTH: '10', DAYWALK_CONCURRENCY: '3' };

const CAMPAIGNS: readonly {
  readonly name: string;
  readonly api: SimulatorOptions;
  readonly more?: Readonly<Record<string, string>>;
}[] = [
  {
    name: 'nothing fetched ahead',
    api: { totals: 'exact' },
    more: { DAYWALK_AHEAD_MEMORY: '0' },
  },
  { name: 'exact totals, oldest first', api: { totals: 'exact', order: 'oldest' } },
  { name: 'no totals', api: { totals: 'none' } },
  { name: 'lengths above 7 are clamped', api: { clamp: 7, envelope: 'hits' } },
  { name: 'paging ends at 40', api: { offsetCap: { limit: 40, answer: 'empty' } } },
];

const day = (number: number) =>
  new Date(Date.parse('2026-03-01') + number * 86_400_000).toISOString().slice(0, 10);

test.each(CAMPAIGNS)(
  `${KILLS} SIGKILLs at random: $name (I1 to I4, I6, I7)`,
  async ({ name, api, more }) => {
    const environment = { ...ENVIRONMENT, ...more };
    const seed = inject('chaosSeed');
    const random = dice(seed + CAMPAIGNS.findIndex((campaign) => campaign.name === name));
    const began = performance.now();
    const stage = await openStage();
    const came = { calls: 0, kills: 0, cuts: 0, records: 0, storedAgain: 0, pagesAgain: 0 };
    try {
      for (let range = 0; came.kills < KILLS; range++) {
        const days = {
          from: day(range * DAYS_IN_A_RANGE),
          to: day((range + 1) * DAYS_IN_A_RANGE - 1),
        };
        await stage.set({
          name: `${name} ${range} ${seed}`,
          api: { eventsPerDay: 60, alertsPerDay: 12, ...api },
          environment,
          days,
          streams: ['events', 'smart-event'],
        });
        for (let over = false; !over; ) {
          const last = came.kills >= KILLS;
          const life = await stage.live(
            ['backfill', '--from', days.from, '--to', days.to],
            last ? undefined : killSometime(random),
          );
          came.calls += life.calls;
          if (life.ended.signal === 'SIGKILL') came.kills += 1;
          else {
            expect(life.ended, life.ended.stderr).toMatchObject({ code: 0 });
            over = true;
          }
          expectLittleAgain(life.again, environment, `${came.kills} kills`);
          came.storedAgain = Math.max(came.storedAgain, life.again.stored);
          came.pagesAgain = Math.max(came.pagesAgain, life.again.pages);
        }
        came.records += await stage.expectWhole();
      }
    } finally {
      await stage.close();
    }
    const seconds = Math.round((performance.now() - began) / 1000);
    const peril = 'SIGKILL at random';
    await note(inject('chaosResults'), {
      part: 'random kills',
      name,
      peril,
      inFlight: inFlight(environment),
      ...came,
      seconds,
    });
  },
);

/** At a random call: before it, after it, or a few milliseconds later, whatever the program then does. */
function killSometime(random: () => number): Peril {
  const at = 1 + Math.floor(random() * LAST_CALL);
  const moment = random() < 0.5 ? 'before' : 'after';
  const later = random() < 0.4 ? random() * 8 : null;
  return async (call, program) => {
    if (call.number < at || (call.number === at && call.moment !== moment)) return 'pass';
    if (later !== null) {
      void pause(later).then(() => program.kill('SIGKILL'));
      return 'pass';
    }
    program.kill('SIGKILL');
    await program.ended;
    return 'cut';
  };
}
