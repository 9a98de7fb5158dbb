/** What happens under way: to the workers, to their connections, and to the events at the APIs. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Story } from './report.ts';
import type { Service, Worker } from './service.ts';
import type { SimulatedTime } from './simulated-time.ts';
import type { Site } from './sites.ts';

/** The day so many days before another one. */
export const dayBefore = (day: string, days: number): string =>
  new Date(Date.parse(day) - days * 86_400_000).toISOString().slice(0, 10);

/** Happenings by chance. */
export class Happenings {
  readonly #random: () => number;
  readonly #story: Story;
  /** Days that events came late in. */
  readonly #gained = new Set<string>();

  constructor(random: () => number, story: Story) {
    this.#random = random;
    this.#story = story;
  }

  #chance(share: number): boolean {
    return this.#random() < share;
  }

  /** Something happens to the workers, now and then; the last one is killed and paused again and again. */
  async strike(service: Service): Promise<void> {
    service.expectAlive();
    const { workers } = service;
    const mortal = workers.at(-1) as Worker;
    if (this.#chance(0.1)) {
      this.#story.kills += 1;
      mortal.program.kill('SIGKILL');
      await mortal.program.ended;
      service.start(mortal);
    } else if (this.#chance(0.06)) {
      this.#story.pauses += 1;
      mortal.program.kill('SIGSTOP');
      await pause(300 + this.#random() * 1_500);
      mortal.program.kill('SIGCONT');
    } else if (this.#chance(0.03)) {
      this.#story.partitions += 1;
      const { proxy } = workers[Math.floor(this.#random() * workers.length)] as Worker;
      proxy.isolate(true);
      await pause(300 + this.#random() * 1_500);
      proxy.isolate(false);
    }
  }

  /** A source changes behind us: events come late in one day, and vanish from another. */
  async change({ name, timeZone, api }: Site, time: SimulatedTime): Promise<void> {
    const today = await time.today(timeZone);
    const [late, thinned] = [dayBefore(today, 2), dayBefore(today, 3)];
    const place = (day: string) => `${name} ${day}`;
    if (this.#chance(0.3)) {
      const hour = String(Math.floor(this.#random() * 24)).padStart(2, '0');
      const timestamp = `${late}T${hour}:30:00.000Z`;
      api.insert([JSON.stringify({ timestamp, late: `${name} ${this.#story.arrivals}` })]);
      this.#story.arrivals += 1;
      // In UTC it may be of the day behind or before in the time zone.
      for (const days of [-1, 0, 1]) this.#gained.add(place(dayBefore(late, days)));
    }
    // A day either gains or loses: one of each is the same number, which one request does not show.
    if (!this.#chance(0.15) || this.#gained.has(place(thinned))) return;
    let left = 1;
    this.#story.deletions += api.remove(() => left-- > 0, {
      from: `${thinned} 08:00:00`,
      to: `${thinned} 15:59:59`,
    });
  }
}
