/** Soak: a year of a service with ten years in its database, among faults of every kind; what must hold is checked at the end. */
import { dice } from '../support/dice.ts';
import { temporaryFolder } from '../support/program.ts';
import { writeFigures } from '../support/reliability-page.ts';
import { testWith } from '../support/tool.ts';
import { expectExact, expectFlat, expectInStep, expectKept } from './checks.ts';
import { dayBefore } from './happenings.ts';
import { newStory, soakFigures } from './report.ts';
import { FIRST_KEY, Service } from './service.ts';
import { createSimulatedTime } from './simulated-time.ts';
import { openSites } from './sites.ts';
import { seedTenYears } from './ten-years.ts';
import { makeWeather } from './weather.ts';
import { Year } from './year.ts';

const MINUTES = Number(process.env.SOAK_MINUTES ?? 10);
const SEED = Number(process.env.SOAK_SEED ?? 1);
/** Just before clocks are moved, so that a short soak passes through days of 23 and 25 hours, too. */
const START = '2027-03-25T02:00:00Z';
const TEN_YEARS = { since: '2017-03-20', until: '2027-03-23' };
/** Of the statements so many lose their connection, before they arrive or before they are answered. */
const CUTS = 0.0005;

testWith(
  ['pgbouncer'],
  `${MINUTES} minutes of a service's year (seed ${SEED}; I1 to I8)`,
  async () => {
    const random = dice(SEED);
    const folder = temporaryFolder();
    const time = await createSimulatedTime(START);
    const weather = makeWeather(random);
    const sites = await openSites(folder, SEED, FIRST_KEY, TEN_YEARS.until, weather);
    for (const site of sites) await seedTenYears(time.database, site, TEN_YEARS);
    const story = newStory();
    const year = new Year(time, story, random, TEN_YEARS.since);
    const service = await Service.open({
      database: time.database,
      sites,
      folder,
      since: TEN_YEARS.since,
      longestMs: (MINUTES + 15) * 60_000,
      story,
      upgradeFrom: process.env.SOAK_UPGRADE_FROM || undefined,
      isCut: () => weather.isBad() && random() < CUTS,
    });
    await year.settle(service);
    weather.turn('bad');
    await year.pass(service, sites, MINUTES);
    // Fair weather until every day has been looked at for the last time.
    weather.turn('fair');
    await year.end(service, MINUTES);
    await service.close();

    let records = 0;
    for (const site of sites) {
      const days = { from: TEN_YEARS.since, to: dayBefore(await time.today(site.timeZone), 1) };
      records += await expectExact(time.database, site, days);
    }
    await expectKept(time.database);
    await expectInStep(time.database);
    story.faults = weather.faults();
    const { days, readings } = year;
    const figures = soakFigures({ minutes: MINUTES, seed: SEED, days, records, story, readings });
    console.log(figures);
    expectFlat(readings);
    // Behind all checks: the page has no figures of a soak that failed.
    await writeFigures('soak', figures);
    for (const { api } of sites) await api.close();
  },
);
