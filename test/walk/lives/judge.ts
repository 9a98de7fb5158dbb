/** What must hold of an installation after each step of its life, and once it has come to rest. */
import { verifyStored } from '../../../src/ledger/verify-stored.ts';
import { readEvents } from '../../../src/tier/day-objects.ts';
import { BEYOND_DATES } from '../../../src/walk/questions/span.ts';
import { audit } from '../../support/audit.ts';
import { hastyClock } from '../../support/store.ts';
import type { Life } from './living.ts';
import { DAY_S, type Event } from './world.ts';

interface Shown {
  readonly stream: string;
  readonly day: string;
  readonly id: number;
  readonly v: number;
  readonly gone: boolean;
}

export interface Standing {
  readonly stream: string;
  readonly day: string;
  readonly state: string;
  readonly error: string | null;
  readonly retired: boolean;
  /** The oldest walk that it rests on; null: there is none. */
  readonly oldest: number | null;
}

export class Judge {
  readonly #life: Life;
  /** Where each record that was ever shown was shown last. */
  readonly #ever = new Map<string, Shown>();
  #identified = false;

  constructor(life: Life) {
    this.#life = life;
  }

  async standings(): Promise<Standing[]> {
    return this.#life.server.query<Standing & Record<string, unknown>>(
      `select c.stream, c.day::text, c.state, c.last_error as error, c.retired_since is not null as retired,
              (select min(walk)::int
                 from daywalk.windows w
                cross join lateral (select unnest(daywalk.walks_of(w.proof)) as walk
                                    union all select (w.proof ->> 'across')::bigint) as walks
                where w.stream_id = s.stream_id and (w.day = c.day or w.midnight in (c.day - 1, c.day))
                  and w.state <> 'replaced' and w.split_by is null and walk is not null) as oldest
         from daywalk.coverage c join daywalk.streams s on s.name = c.stream order by 1, 2`,
    );
  }

  async #shown(): Promise<Shown[]> {
    const { server, store, signal } = this.#life;
    const rows = await server.query<Shown & Record<string, unknown>>(
      `select stream, day::text, (record ->> 'id')::int as id, (record ->> 'v')::int as v, gone_since is not null as gone
         from daywalk.shown_records`,
    );
    const there = await server.query<{ stream: string; day: string; key: string }>(
      'select s.name as stream, t.day::text, t.events_key as key from daywalk.tiered_days t join daywalk.streams s using (stream_id)',
    );
    const moved: Shown[] = [];
    for (const { stream, day, key } of there)
      for await (const records of readEvents(store, key, signal))
        for (const { text, goneSince } of records) {
          const { id, v } = JSON.parse(text) as { id: number; v: number };
          moved.push({ stream, day, id, v, gone: goneSince !== null });
        }
    return [...rows, ...moved];
  }

  /** @returns what is wrong now. */
  async check(): Promise<string[]> {
    const { server, world, settings } = this.#life;
    const found: string[] = [];
    this.#identified ||= settings.identified;
    const pruned = new Set(
      (
        await server.query<{ key: string }>(
          `select s.name || ' ' || g.day as key from daywalk.prunings g join daywalk.streams s using (stream_id)
            where what = 'day' and not exists (select from daywalk.tiered_days t where t.stream_id = g.stream_id and t.day = g.day)`,
        )
      ).map(({ key }) => key),
    );
    const away = await server.query('select from daywalk.prunings limit 1');
    const wrong = await audit(server);
    found.push(
      ...wrong.filter((text) => away.length === 0 || !/I6: (what is shown|window)/.test(text)),
    );
    const shown = await this.#shown();
    const standings = await this.standings();
    const key = ({ stream, id, v }: Shown) => `${stream} ${id}${this.#identified ? '' : ` ${v}`}`;
    const now = new Map(shown.map((row) => [key(row), row]));
    for (const row of [...this.#ever.values()]) {
      if (now.has(key(row))) continue;
      if (!pruned.has(`${row.stream} ${row.day}`)) found.push(`left: ${JSON.stringify(row)}`);
      this.#ever.delete(`${row.stream} ${row.id} ${row.v}`);
    }
    for (const row of shown) this.#ever.set(`${row.stream} ${row.id} ${row.v}`, row);
    if (world.outage !== 'none') return found;
    // What a midnight adds belongs to the day before it, and goes with that: with dates that hide, hours of a day.
    const beside = world.habits.dates === 0 ? 120 : BEYOND_DATES;
    // Where days are padded besides, the one on the other side shows it as its own, once it is exported.
    const padded = world.habits.dates !== 0 && world.habits.edges === 'padded' ? 30 : 0;
    const isLeftOut = world.habits.rounded > 0 && world.habits.edges === 'exclusive';
    const firsts = new Set(
      (
        await server.query<{ key: string }>(
          `select s.name || ' ' || w.day as key from daywalk.windows w join daywalk.streams s using (stream_id) where w.midnight = w.day - 1`,
        )
      ).map(({ key }) => key),
    );
    const exported = new Set(
      standings.flatMap(({ stream, day, state }) =>
        ['complete', 'tiered'].includes(state) ? `${stream} ${day}` : [],
      ),
    );
    const live = new Map<string, Shown[]>();
    for (const row of shown)
      if (!row.gone)
        live.set(`${row.stream} ${row.id} ${row.v}`, [
          ...(live.get(`${row.stream} ${row.id} ${row.v}`) ?? []),
          row,
        ]);
    for (const { stream, day, state, oldest, retired } of standings) {
      if (!['complete', 'tiered'].includes(state) || retired || oldest === null) continue;
      const number = world.days.indexOf(day);
      const isAway = (other: number) => pruned.has(`${stream} ${world.days[other]}`);
      const isExported = (other: number) => exported.has(`${stream} ${world.days[other]}`);
      for (const event of world.events) {
        if (!isOf(event, number) || (stream === 'severe' && event.level < 12)) continue;
        if (!world.isThere(event) || !event.was || event.since >= oldest) continue;
        const second = event.at - number * DAY_S;
        if (second < beside && isAway(number - 1)) continue;
        if (second > DAY_S - beside && isAway(number + 1)) continue;
        if (second < padded && !isExported(number - 1)) continue;
        // Nor does the second before a first day show its first one, where ends are rounded and left out besides.
        if (second < 1 && isLeftOut && firsts.has(`${stream} ${day}`)) continue;
        const rows = live.get(`${stream} ${event.id} ${event.version}`) ?? [];
        if (rows.length !== 1)
          found.push(
            `${day} of ${stream} is ${state} and shows ${rows.length} times ${world.textOf(event)}: ${JSON.stringify(rows)}`,
          );
      }
    }
    const disagree = await server.query<{ day: string }>(
      `select c.day::text || c.state as day from daywalk.coverage c
        where (c.state in ('missing', 'pending', 'failed', 'running')) <> exists (select from daywalk.gaps g where g.stream = c.stream and g.day = c.day)
          and not exists (select from daywalk.streams s where s.name = c.stream and daywalk.closed_at(c.day, s.time_zone, s.settle) > clock_timestamp())`,
    );
    for (const { day } of disagree) found.push(`coverage and gaps disagree on ${day}`);
    return found;
  }

  /** What is wrong of what is stored, by `verify --offline`. */
  async verify(): Promise<string[]> {
    const { database, signal } = this.#life;
    const { findings } = await verifyStored(
      { database, clock: hastyClock },
      ['all', 'severe'],
      null,
      2,
      signal,
    );
    return findings.map((finding) => `verify: ${JSON.stringify(finding)}`);
  }

  /** Whether more stands around the midnight before a day, as far as it is asked for where dates hide hours, than a list shows. */
  isTooMuch = (day: number): boolean => {
    const { world } = this.#life;
    const around = world.events.filter(
      (event) => world.isThere(event) && Math.abs(event.at - day * DAY_S) < BEYOND_DATES,
    );
    return around.length > world.habits.deepest;
  };

  /** What no later run would settle. */
  async stuck(): Promise<string[]> {
    const rows = await this.#life.server.query<{ text: string }>(
      `select format('stuck: window %s (%s of %s, %s) is %s, due %s, rewalk %s: %s', w.window_id, w.kind, s.name, w.from_time, w.state, w.due_at - clock_timestamp(), w.rewalk, w.last_error) as text
         from daywalk.windows w join daywalk.streams s using (stream_id)
        where w.state <> 'replaced'
          and ((w.state in ('pending', 'failed') and w.due_at is null
                and (w.kind <> 'cut' or exists (select from daywalk.windows d where d.stream_id = w.stream_id and d.kind = 'day' and d.day in (w.midnight, w.midnight + 1) and d.state = 'complete'
                                                  and not exists (select from daywalk.prunings g where g.stream_id = d.stream_id and g.day = d.day))))
            or (w.rewalk and w.due_at is null)
            or (w.state = 'complete' and w.due_at is not null and not w.rewalk
                and daywalk.closed_at(w.day, s.time_zone, s.settle) + make_interval(days => $1::integer + 3) < clock_timestamp()
                and w.proven_at < clock_timestamp() - interval '3 days'))`,
      [this.#life.settings.recheckDays],
    );
    return rows.map(({ text }) => text);
  }
}

const isOf = ({ at }: Event, day: number) => Math.floor(at / DAY_S) === day;
