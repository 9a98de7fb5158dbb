/** The plan of the failovers: a hundred, in the shares that are promised, and the same again for the same seed. */
import { expect, test } from 'vitest';
import { GROUPS, type Group, MIDSTS, planFailovers, WAYS } from './plan.ts';

test.each([1, 2, 3])(
  'seed %i: forty, forty and twenty; each way in the midst of everything',
  (seed) => {
    const plan = planFailovers(seed);
    expect(plan.map(({ number }) => number)).toEqual(plan.map((_, at) => at + 1));
    expect(planFailovers(seed)).toEqual(plan);
    expect(planFailovers(seed + 1)).not.toEqual(plan);
    for (const group of Object.keys(GROUPS) as Group[]) {
      const these = plan.filter((failover) => failover.group === group);
      expect(these).toHaveLength(GROUPS[group].failovers);
      for (const midst of Object.keys(MIDSTS))
        expect(these.filter((failover) => failover.midst === midst).length).toBeGreaterThan(1);
      for (const way of WAYS)
        expect(these.filter((failover) => failover.way === way).length).toBeGreaterThan(4);
    }
    for (const { group, way, lost } of plan)
      expect(lost > 0).toBe(group === 'asynchronous' && way !== 'switchover');
    expect(plan).toHaveLength(100);
  },
);
