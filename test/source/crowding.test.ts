/** The number of requests under way follows how long answers take. */
import { describe, expect, test } from 'vitest';
import { Crowding } from '../../src/source/crowding.ts';

const answers = (crowding: Crowding, count: number, ms: number, like = 'page') => {
  for (let index = 0; index < count; index++) crowding.answered(like, ms, crowding.limit);
};

describe('crowding', () => {
  test('begins with all that is allowed, and stays there while answers take as long as ever', () => {
    const crowding = new Crowding(8);
    answers(crowding, 500, 300);
    expect(crowding.limit).toBe(8);
  });

  test('cuts when like requests take much longer, and comes back when they do not', () => {
    const crowding = new Crowding(8);
    answers(crowding, 50, 300);
    answers(crowding, 20, 1500);
    expect(crowding.limit).toBeLessThanOrEqual(4);
    answers(crowding, 100, 300);
    expect(crowding.limit).toBe(8);
  });

  test('takes what lasts for usual, so that a slower server is not starved for ever', () => {
    const crowding = new Crowding(8);
    answers(crowding, 50, 300);
    answers(crowding, 600, 1500);
    expect(crowding.limit).toBe(8);
  });

  test('does not take deep or long pages for a crowd', () => {
    const crowding = new Crowding(8);
    answers(crowding, 50, 150, 'shallow');
    answers(crowding, 50, 3000, 'deep');
    answers(crowding, 50, 150, 'shallow');
    expect(crowding.limit).toBe(8);
  });

  test('does not care about times that are short anyway', () => {
    const crowding = new Crowding(8);
    answers(crowding, 50, 2);
    answers(crowding, 50, 90);
    expect(crowding.limit).toBe(8);
  });

  test('halves when no answer comes in time, once for all that were under way, and never to nothing', () => {
    const crowding = new Crowding(8);
    for (let late = 0; late < 8; late++) crowding.late(8);
    expect(crowding.limit).toBe(4);
    for (let late = 0; late < 100; late++) crowding.late(1);
    expect(crowding.limit).toBe(1);
  });

  test('is not raised by requests that never reach it', () => {
    const crowding = new Crowding(8);
    crowding.late(0);
    for (let index = 0; index < 50; index++) crowding.answered('page', 10, 1);
    expect(crowding.limit).toBe(4);
  });
});
