/** Seeded records: the same for the same seed, of the promised shape, and cheap however many there are. */
import { afterEach, expect, test } from 'vitest';
import {
  type Simulator,
  type SimulatorOptions,
  startSimulator,
} from '../../simulator/simulator.ts';
import { ask, askRaw, DAY, target } from './asking.ts';

const running: Simulator[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((simulator) => simulator.close()));
});
const start = async (options: SimulatorOptions) => {
  const simulator = await startSimulator(options);
  running.push(simulator);
  return simulator;
};
const day = (text: string) => ({ from: `${text} 00:00:00`, to: `${text} 23:59:59` });

test('the same seed gives the same bytes, another one others', async () => {
  const one = await start({ seed: 'a', eventsPerDay: 100 });
  const same = await start({ seed: 'a', eventsPerDay: 100 });
  const other = await start({ seed: 'b', eventsPerDay: 100 });
  expect(one.matching(DAY)).toEqual(same.matching(DAY));
  expect(one.matching(DAY)).not.toEqual(other.matching(DAY));
  expect(one.matching(DAY)).not.toEqual(one.matching(day('2026-03-02')));
});

test('records are sorted, different, and hold what is hard to keep', async () => {
  const simulator = await start({ eventsPerDay: 2000 });
  const texts = simulator.matching(DAY);
  const times = texts.map((text) => JSON.parse(text).timestamp);
  expect(times).toEqual([...times].sort());
  expect(new Set(times).size).toBeLessThan(times.length);
  expect(times[0]).toBe('2026-03-01T00:00:00.000+0000');
  expect(times.at(-1) > '2026-03-01T23:59:59.5').toBe(true);
  const ids = texts.map((text) => BigInt(/"id":(\d+)/.exec(text)?.[1] ?? 0));
  expect(new Set(ids).size).toBe(texts.length);
  for (const id of ids) expect(id > 2n ** 53n && id < 2n ** 63n).toBe(true);
  expect(texts.some((text) => /"score":\d\.\d0,/.test(text))).toBe(true);
  expect(texts.some((text) => text.includes('東京支社'))).toBe(true);
});

test('every filter of the API chooses some seeded events and not all', async () => {
  const simulator = await start({ eventsPerDay: 2000 });
  const all = simulator.count(DAY);
  for (const filter of [
    { search: 'brute force' },
    { agent: 'dc-zürich' },
    { rule_level: '10' },
    { filters: 'decoder.name:sshd' },
    { manager: 'wazuh-manager-1' },
    { manager_tags: 'prod' },
    { rule_mitre_technique: 'T1110' },
    { rule_mitre_tactic: 'Impact' },
    { rule_level_from: '7' },
    { rule_level_to: '7' },
    { organization: 'Müller & Söhne' },
    { agent_tags: 'windows' },
    { hideread: '1' },
    { detection_type: 'correlation' },
  ]) {
    const count = simulator.count({ ...DAY, ...filter });
    expect([filter, count > 0 && count < all]).toEqual([filter, true]);
  }
});

test('days vary around the mean, can be empty, and end where they are told to', async () => {
  const days = Array.from({ length: 28 }, (_, index) =>
    day(`2026-02-${String(index + 1).padStart(2, '0')}`),
  );
  const vary = await start({ eventsPerDay: 100 });
  const counts = days.map((window) => vary.count(window));
  expect(new Set(counts).size).toBeGreaterThan(5);
  for (const count of counts) expect(count >= 80 && count <= 120).toBe(true);
  const some = await start({ eventsPerDay: 100, emptyDays: 0.3 });
  const empty = days.filter((window) => some.count(window) === 0).length;
  expect(empty > 0 && empty < 28).toBe(true);
  const bounded = await start({
    eventsPerDay: 10,
    dayVariation: 0,
    from: '2026-02-10',
    to: '2026-02-11',
  });
  expect(bounded.count({ from: '1900-01-01 00:00:00', to: '2999-12-31 23:59:59' })).toBe(20);
});

test('smart-event has fewer records of its own', async () => {
  const simulator = await start({ eventsPerDay: 1000, dayVariation: 0 });
  expect(simulator.count({ ...DAY, resource: 'smart-event' })).toBe(20);
  const reply = await askRaw(simulator, target({}, 'smart-event'));
  const [alert] = JSON.parse(reply.text).data;
  expect(Object.keys(alert)).toEqual(expect.arrayContaining(['title', 'event_count', 'rule']));
});

test('a day of ten million records is served without making them', async () => {
  const simulator = await start({ eventsPerDay: 10_000_000, dayVariation: 0, cacheBytes: 1e6 });
  const { data, recordsTotal } = JSON.parse((await ask(simulator, { start: 9_999_950 })).text);
  expect([recordsTotal, data.length]).toEqual([10_000_000, 50]);
  expect(data.at(-1).timestamp).toBe('2026-03-01T00:00:00.000+0000');
  const seam = { from: '2026-03-01 23:59:59', to: '2026-03-02 00:00:00' };
  expect(simulator.count(seam)).toBeGreaterThan(0);
  expect(simulator.count(seam)).toBeLessThan(1000);
});

test('what is dropped from the cache comes back the same', async () => {
  const simulator = await start({ eventsPerDay: 3000, dayVariation: 0, cacheBytes: 1 });
  const first = (await ask(simulator, { length: 3000 })).text;
  expect((await ask(simulator, { length: 3000 })).text).toBe(first);
});
