/** A world of records, two streams of one resource, and all rooms at once, in any order: whatever the views show is noted everywhere, and nothing leaves them. */
import { randomUUID } from 'node:crypto';
import { beforeAll, expect, it } from 'vitest';
import { appendToLedger, listDueDays } from '../../src/ledger/rows.ts';
import { listOldDays, markPruned } from '../../src/retention/rows.ts';
import type { Database } from '../../src/store/database.ts';
import { compareSums, isCorrectionPlausible } from '../../src/store/evidence/agreement.ts';
import { readNeighbours } from '../../src/store/evidence/proven.ts';
import { listMovedDays } from '../../src/store/moved-days.ts';
import { removeMarked } from '../../src/store/pruned-pages.ts';
import { closeSplit, splitWindow } from '../../src/store/splits.ts';
import { proveCut } from '../../src/store/walks.ts';
import { askNeighboursAgain } from '../../src/store/windows.ts';
import { checkTieredDays } from '../../src/tier/check-days.ts';
import { restoreDays } from '../../src/tier/restore.ts';
import { audit, overlooked } from '../support/audit.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { dice } from '../support/dice.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { tries } from '../support/night.ts';
import {
  endedWalk,
  endLooks,
  leaseWindow as leaseIt,
  proveTexts as proveIt,
  windowOf,
} from '../support/publishing.ts';
import { clear, openDatabase, planDays } from '../support/store.ts';
import { apply, column, dropTables, sync, tableOf } from '../tables/tables-stage.ts';
import { believed, moveAll, partsOf, signal } from '../tier/moving-scene.ts';

async function freshen(db: Database, id: number): Promise<void> {
  await db.query(
    `with open as (update daywalk.windows set current_walk = null where window_id = $1 and current_walk is not null returning (select k.walk_id from daywalk.walks k where k.window_id = $1 and k.outcome is null limit 1) as walk)
     update daywalk.walks k set outcome = 'failed', finished_at = clock_timestamp() from open where k.walk_id = open.walk`,
    [id],
  );
}
const leaseWindow = async (db: Database, id: number) => {
  await freshen(db, id);
  return leaseIt(db, id);
};
const proveTexts: typeof proveIt = async (db, id, ...more) => {
  await freshen(db, id);
  return proveIt(db, id, ...more);
};
async function letHoursPass(db: Database, hours: number): Promise<void> {
  const by = [`${hours} hours`];
  await db.query(
    'update daywalk.windows set proven_at = proven_at - $1::interval, looked_at = looked_at - $1::interval, shown_at = shown_at - $1::interval, due_at = due_at - $1::interval',
    by,
  );
  await db.query(
    'update daywalk.marks m set since = since - $1::interval from daywalk.walks k where k.walk_id = m.walk_id and k.pruning is null',
    by,
  );
  await db.query('update daywalk.publications set published_at = published_at - $1::interval', by);
}
const DAYS = ['2026-03-05', '2026-03-06', '2026-03-07'] as const;
let server: TestDatabase;
let database: Database;
beforeAll(async () => {
  server = await createTestDatabase();
});

interface Rec {
  id: number;
  v: number;
  day: number;
  pos: 'start' | 'mid' | 'end' | 'edge';
  crit: boolean;
}
type Style = 'gap' | 'both' | 'before' | 'after';

class World {
  recs: Rec[] = [];
  next = 1;
  style: Style = 'both';
  volatile = false;
  ignored: string[] = [];
  readonly rnd: () => number;
  constructor(rnd: () => number) {
    this.rnd = rnd;
  }
  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.rnd() * list.length)] as T;
  }
  add() {
    this.recs.push({
      id: this.next++,
      v: 1,
      day: Math.floor(this.rnd() * DAYS.length),
      pos: this.pick(['start', 'mid', 'end', 'edge', 'edge'] as const),
      crit: this.rnd() < 0.6,
    });
  }
  text(r: Rec): string {
    return this.volatile
      ? `{"n": ${Math.floor(this.rnd() * 1e9)}, "v": ${r.v}, "id": ${r.id}}`
      : `{"v": ${r.v}, "id": ${r.id}}`;
  }
  seen(filtered: boolean) {
    return this.recs.filter((r) => !filtered || r.crit);
  }
  ofDay(d: number, filtered: boolean) {
    return this.seen(filtered).filter((r) =>
      r.pos !== 'edge'
        ? r.day === d
        : (r.day === d && (this.style === 'both' || this.style === 'before')) ||
          (r.day === d - 1 && (this.style === 'both' || this.style === 'after')),
    );
  }
  half(d: number, filtered: boolean, which: 0 | 1) {
    return this.ofDay(d, filtered).filter((r) => {
      const late =
        r.pos === 'edge' ? r.day === d : r.pos === 'end' || (r.pos === 'mid' && r.id % 2 === 1);
      return late === (which === 1);
    });
  }
  cut(d: number, filtered: boolean) {
    const all = this.seen(filtered);
    const edge = all.filter((r) => r.pos === 'edge' && r.day === d);
    const end = all.filter((r) => r.pos === 'end' && r.day === d);
    const start = all.filter((r) => r.pos === 'start' && r.day === d + 1);
    const k1 = this.style === 'both' || this.style === 'before';
    const k2 = this.style === 'both' || this.style === 'after';
    return {
      across: [...end, ...edge, ...start],
      before: [...end, ...(k1 ? edge : [])],
      after: [...(k2 ? edge : []), ...start],
    };
  }
}

function shuffle<T>(rnd: () => number, list: readonly T[]): T[] {
  const copy = [...list];
  for (let i = copy.length - 1; i > 0; i--) {
    const j = Math.floor(rnd() * (i + 1));
    [copy[i], copy[j]] = [copy[j] as T, copy[i] as T];
  }
  return copy;
}

interface Row {
  stream: string;
  day: string;
  id: number;
  v: number;
  gone: boolean;
  line: string;
}

async function run(seed: number, log: string[]): Promise<void> {
  const rnd = dice(seed);
  const world = new World(rnd);
  world.style = world.pick(['gap', 'both', 'both', 'before', 'after'] as const);
  const mode = world.pick(['none', 'id', 'id', 'later'] as const);
  world.volatile = rnd() < 0.3;
  if (world.volatile && rnd() < 0.6) world.ignored = ['/n'];
  let idPath: string[] | undefined = mode === 'id' ? ['id'] : undefined;
  const filteredToo = rnd() < 0.6;
  const useTier = rnd() < 0.6;
  const usePrune = rnd() < 0.4;
  const useSplit = rnd() < 0.5;
  log.push(
    `style ${world.style} mode ${mode} volatile ${world.volatile} filtered ${filteredToo} tier ${useTier} prune ${usePrune} split ${useSplit}`,
  );
  await clear(server);
  await dropTables(database);
  const streams: { name: string; id: number; filtered: boolean }[] = [];
  const plan = async () => {
    const s1 = await planDays(database, DAYS, idPath === undefined ? {} : { idPath });
    if (!streams.some((s) => s.id === s1))
      streams.push({ name: 'events', id: s1, filtered: false });
    if (filteredToo) {
      const s2 = await planDays(database, DAYS, {
        name: 'audit',
        filters: { rule_level: '12' },
        ...(idPath === undefined ? {} : { idPath }),
      });
      if (!streams.some((s) => s.id === s2))
        streams.push({ name: 'audit', id: s2, filtered: true });
    }
  };
  await plan();
  const columns = [column('id', 'bigint', { index: true }), column('v', 'bigint')];
  await apply(
    database,
    tableOf(columns, { name: 'short' }),
    tableOf(columns, { name: 'longer', retention: 1e13 }),
  );
  const store = new MemoryStore();
  const parts = partsOf(database, store);
  for (let i = 0; i < 8; i++) world.add();
  const pruned = new Set<string>();
  const tieredEver = new Set<string>();

  const away = async (s: number, day: string) =>
    (
      await server.query(
        `select from daywalk.prunings where stream_id = $1 and day = $2 and what = 'day'`,
        [s, day],
      )
    ).length > 0;
  const pages = (recs: Rec[]) => {
    const texts = shuffle(rnd, recs).map((r) => world.text(r));
    const at = 1 + Math.floor(rnd() * 3);
    const split = [texts.slice(0, at), texts.slice(at)];
    return split.filter((p, i) => i === 0 || p.length > 0);
  };
  const fps = async () => {
    const rows = await server.query<{ key: string; fp: string }>(
      `select stream || ' ' || day as key, md5(string_agg(jsonb_build_array(record, walk_id, page_no, place, position, first_seen, gone_since, revision)::text, ';' order by walk_id, page_no, place)) as fp
         from daywalk.shown_records group by 1`,
    );
    return new Map(rows.map((r) => [r.key, r.fp]));
  };
  const idents = async () => {
    const rows = await server.query<{
      key: string;
      publication: string;
      walks: string;
      marks: string;
      unsealed: boolean;
      away: boolean;
    }>(
      `select s.name || ' ' || d.day as key, d.publication, d.unsealed, w.walks::text, encode(daywalk.marks_digest(w.walks), 'hex') as marks,
              exists (select from daywalk.prunings g where g.stream_id = d.stream_id and g.day = d.day and what = 'day') as away
         from daywalk.days d join daywalk.streams s using (stream_id)
        cross join lateral (select array(select k.walk_id from daywalk.windows w join daywalk.walks k using (window_id) where w.stream_id = d.stream_id and w.day = d.day and k.shown <> 'no' order by 1) as walks) as w`,
    );
    return new Map(rows.map((r) => [r.key, r]));
  };
  const resourceFps = async () => {
    const rows = await server.query<{ key: string; fp: string }>(
      `select day::text as key, md5(string_agg(jsonb_build_array(stream, record, walk_id, page_no, position)::text, ';' order by walk_id, page_no, position)) as fp from daywalk.events group by 1`,
    );
    return new Map(rows.map((r) => [r.key, r.fp]));
  };
  const shownNow = async (): Promise<Row[]> => {
    const all = await believed(server, store);
    const rows: Row[] = [];
    for (const [key, lines] of Object.entries(all)) {
      const [stream, day] = key.split(' ') as [string, string];
      for (const line of lines) {
        const told = JSON.parse(line) as unknown[];
        const record = JSON.parse(told[2] as string) as { id: number; v: number };
        rows.push({ stream, day, id: record.id, v: record.v, gone: told[8] !== null, line });
      }
    }
    return rows;
  };

  const walkDay = async (s: { id: number; filtered: boolean }, d: number) => {
    const day = DAYS[d] as string;
    if (await away(s.id, day)) return 'away';
    const window = await windowOf(database, s.id, day);
    await proveTexts(
      database,
      window,
      pages(world.ofDay(d, s.filtered)),
      {},
      { ignored: world.ignored },
    );
    return 'proven';
  };
  const splitDay = async (s: { id: number; filtered: boolean }, d: number) => {
    const day = DAYS[d] as string;
    if (await away(s.id, day)) return 'away';
    const id = await windowOf(database, s.id, day);
    const window = await leaseWindow(database, id);
    await splitWindow(database, window, {
      by: 'time',
      reason: `split ${randomUUID()}`,
      total: null,
      parts: [
        { from: `${day} 00:00:00`, to: `${day} 11:59:59`, levelFrom: null, levelTo: null },
        { from: `${day} 12:00:00`, to: `${day} 23:59:59`, levelFrom: null, levelTo: null },
      ],
      cuts: [`${day} 11:59:59`],
    } as never);
    const found = await server.query<{ id: number; kind: string }>(
      `select window_id::int as id, kind from daywalk.windows where split_from = $1 and state <> 'replaced' order by kind desc, from_time`,
      [id],
    );
    const [morning, evening, noon] = found.map((f) => f.id) as [number, number, number];
    await proveTexts(
      database,
      morning,
      pages(world.half(d, s.filtered, 0)),
      {},
      { ignored: world.ignored },
    );
    await proveTexts(
      database,
      evening,
      pages(world.half(d, s.filtered, 1)),
      {},
      { ignored: world.ignored },
    );
    const cut = await leaseWindow(database, noon);
    const across = await endedWalk(database, cut, [[]], { role: 'across', ignored: world.ignored });
    await proveCut(database, cut, {
      kind: 'cut',
      rule: 'C8',
      why: 'x',
      records: 0,
      removed: 0,
      across,
      before: null,
      after: null,
    } as never);
    const again = await leaseWindow(database, id);
    const count = world.ofDay(d, s.filtered).length;
    await closeSplit(database, again, {
      kind: 'parts',
      rule: 'C9',
      records: count,
      why: 'x',
    } as never);
    return 'split';
  };
  const askCut = async (s: { id: number; filtered: boolean }, d: number) => {
    // d from -1 (before the first day)
    const day = d < 0 ? '2026-03-04' : (DAYS[d] as string);
    if (await away(s.id, day)) return 'away';
    if (d < 0 && (await away(s.id, DAYS[0]))) return 'away';
    if (world.volatile && world.ignored.length === 0) return 'unsteady';
    const id = await windowOf(database, s.id, day, 'cut');
    const { across: a, before: b, after: f } = world.cut(d, s.filtered);
    const cut = await leaseWindow(database, id);
    const texts = (recs: Rec[]) => [shuffle(rnd, recs).map((r) => world.text(r))];
    const plan = { ignored: world.ignored };
    const across = await endedWalk(database, cut, texts(a), { role: 'across', ...plan });
    let before: number | null = null,
      after: number | null = null;
    let counts = { more: 0, less: 0 };
    if (a.length > 0) {
      before = await endedWalk(database, cut, texts(b), { role: 'before', ...plan });
      after = await endedWalk(database, cut, texts(f), { role: 'after', ...plan });
      const sides = [{ walkId: before }, { walkId: after }] as const;
      const neighbours = await readNeighbours(database, cut);
      if (!(await isCorrectionPlausible(database, [{ walkId: across }, ...sides], neighbours))) {
        await askNeighboursAgain(database, cut);
        await database.query(
          `update daywalk.windows set state = 'failed', due_at = clock_timestamp(), lease_id = null, lease_expires = null, lease_owner = null, last_error = 'x', last_failed_at = clock_timestamp(), failures = 1 where window_id = $1`,
          [id],
        );
        return 'implausible';
      }
      counts = await compareSums(database, sides, [{ walkId: across }]);
    }
    await proveCut(database, cut, {
      kind: 'cut',
      rule: 'C8',
      why: 'x',
      records: counts.more,
      removed: counts.less,
      across,
      before,
      after,
    } as never);
    return `cut +${counts.more} -${counts.less}`;
  };
  const append = async () => {
    for (const due of await listDueDays(
      database,
      streams.map((s) => s.id),
    ))
      await appendToLedger(database, due);
    const left = await server.query(
      `select stream, day::text, walks, entry, unsealed_pages, expected from daywalk.ledger_due`,
    );
    expect(left, 'ledger_due').toEqual([]);
    const bad = await server.query(
      `select stream, entry, day::text from daywalk.ledger_check where not ok`,
    );
    expect(bad, 'ledger_check').toEqual([]);
  };
  const tables = async () => {
    await sync(database);
    for (const name of ['short', 'longer']) {
      const differing = await server.query(
        `with shown as (select day, (record ->> 'id')::bigint as id, (record ->> 'v')::bigint as v, walk_id, page_no, place, first_seen, gone_since is null as there, revision from daywalk.shown_records where stream = 'events'
                          -- What stood under a day that was pruned since is under that day still, where the table outlives it.
                          and not exists (select from daywalk.table_days y join daywalk.record_tables t using (table_id)
                                           where t.name = '${name}' and t.outlives and y.day = stood_on and y.records > 0)),
              held as (select day, id, v, walk_id, page_no, place, first_seen, gone_since is null as there, revision from daywalk.${name} h
                        where not exists (select from daywalk.prunings g join daywalk.streams s using (stream_id) where s.name = 'events' and g.day = h.day and g.what = 'day'))
         (select 'missing' as what, * from (select * from shown except all select * from held) as a)
          union all
         (select 'too many', * from (select * from held except all select * from shown) as b)`,
      );
      expect(differing, `table ${name}`).toEqual([]);
    }
    const extra = await server.query(
      `select day::text from daywalk.short h where exists (select from daywalk.prunings g join daywalk.streams s using (stream_id) where s.name = 'events' and g.day = h.day and g.what = 'day')`,
    );
    expect(extra, 'short has pruned').toEqual([]);
  };
  const width0 = Number(process.env.WIDTH ?? 1);
  const step = async (): Promise<string> => {
    const s = world.pick(streams);
    const d = Math.floor(rnd() * DAYS.length);
    const x = rnd();
    if (x < 0.1) {
      world.add();
      world.add();
      return 'add';
    }
    if (x < 0.15) {
      if (world.recs.length > 0) world.recs.splice(Math.floor(rnd() * world.recs.length), 1);
      return 'delete';
    }
    if (x < 0.25) {
      const r = world.pick(world.recs);
      if (r) {
        r.v += 1;
        if (rnd() < 0.3 && mode !== 'later') r.day = Math.floor(rnd() * DAYS.length);
      }
      return `edit ${r?.id} now in ${r?.day}`;
    }
    if (x < 0.3 && width0 === 1) {
      const h = world.pick([0.5, 1, 3]);
      await letHoursPass(database, h);
      await server.query(
        "update daywalk.days d set unsealed = true where not exists (select from daywalk.prunings g where g.stream_id = d.stream_id and g.day = d.day and g.what = 'day')",
      );
      return `hours ${h}`;
    }
    if (x < 0.52) return `walk ${s.name} ${d} ${await walkDay(s, d)}`;
    if (x < 0.57) return useSplit ? `split ${s.name} ${d} ${await splitDay(s, d)}` : 'none';
    if (x < 0.75) {
      const c = d - 1 + Math.floor(rnd() * 2);
      return `cut ${s.name} ${c} ${await askCut(s, c)}`;
    }
    if (x < 0.8) {
      await append();
      return 'append';
    }
    if (x < 0.84) {
      await tables();
      return 'tables';
    }
    if (x < 0.87 && usePrune) {
      await append();
      await tables();
      const [old] = shuffle(
        rnd,
        (await listOldDays(database, 'day', [{ stream: s.name, olderThanMs: 0 }])).filter(
          (o) => o.kept === null,
        ),
      );
      if (!old) return 'prune none';
      const said = await markPruned(database, 'day', old);
      if (said === 'pruned') pruned.add(`${s.name} ${old.day}`);
      if (rnd() < 0.5) await removeMarked(database, signal);
      return `prune ${s.name} ${old.day} ${said}`;
    }
    if (x < 0.89) {
      await append();
      const olds = (
        await listOldDays(database, 'superseded', [{ stream: s.name, olderThanMs: 0 }])
      ).filter((o) => o.kept === null);
      const said = [];
      for (const old of olds) said.push(await markPruned(database, 'superseded', old));
      await removeMarked(database, signal);
      return `superseded ${s.name} ${said.join()}`;
    }
    if (x < 0.95 && useTier) {
      await append();
      await tables();
      await endLooks(database);
      const report = await moveAll(parts, [s.name], [DAYS[d] as string]);
      for (const m of report.days) tieredEver.add(`${m.stream} ${m.day}`);
      return `tier ${s.name} ${d}: ${report.days.length} ${report.kept.map((k) => k.reason).join()}`;
    }
    if (x < 0.99 && useTier) {
      const days = (await listMovedDays(database, [s.name], null)).filter((m) => m.day === DAYS[d]);
      await removeMarked(database, signal);
      const before = (await believed(server, store))[`${s.name} ${DAYS[d]}`];
      const report = await restoreDays(parts, days, 7);
      const after = (await believed(server, store))[`${s.name} ${DAYS[d]}`];
      if (report.days.length > 0) expect(after, 'restored').toEqual(before);
      return `restore ${s.name} ${d}: ${report.days.length} ${report.kept.map((k) => k.reason).join()}`;
    }
    if (mode === 'later' && idPath === undefined) {
      idPath = ['id'];
      await plan();
      for (const day of DAYS) await server.query(`select daywalk.share_day('events', $1)`, [day]);
      return 'id_path set';
    }
    if (world.volatile && world.ignored.length === 0) {
      world.ignored = ['/n'];
      return 'learn';
    }
    return 'none';
  };
  const check = async (
    name: string,
    before: {
      fps: Map<string, string>;
      idents: Awaited<ReturnType<typeof idents>>;
      res: Map<string, string>;
      rows: Row[];
    },
  ) => {
    const now = {
      fps: await fps(),
      idents: await idents(),
      res: await resourceFps(),
      rows: await shownNow(),
    };
    for (const key of new Set([...before.fps.keys(), ...now.fps.keys()])) {
      if (before.fps.get(key) === now.fps.get(key)) continue;
      const [b, n] = [before.idents.get(key), now.idents.get(key)];
      if (b?.publication === n?.publication)
        throw new Error(`${name}: ${key} changed and was not published`);
      if (!b?.away && !n?.away && b && b.walks === n?.walks && b.marks === n.marks)
        throw new Error(`${name}: ${key} changed with the same walks and marks`);
    }
    for (const key of new Set([...before.res.keys(), ...now.res.keys()])) {
      if (before.res.get(key) === now.res.get(key)) continue;
      if (name === 'id_path set') continue;
      const some = streams.some(
        (s) =>
          before.idents.get(`${s.name} ${key}`)?.publication !==
          now.idents.get(`${s.name} ${key}`)?.publication,
      );
      if (!some) throw new Error(`${name}: events of ${key} changed and nothing was published`);
    }
    // Nothing leaves.
    const identityOf = (r: Row) =>
      idPath === undefined ? `${r.stream} ${r.id} ${r.v}` : `${r.stream} ${r.id}`;
    const have = new Set(now.rows.map(identityOf));
    for (const r of before.rows) {
      if (have.has(identityOf(r)) || pruned.has(`${r.stream} ${r.day}`)) continue;
      throw new Error(`${name}: ${JSON.stringify(r)} is shown no more`);
    }
    const wrong = (await audit(server))
      .filter((t) => !/the ledger lacks/.test(t))
      .filter(
        (t) =>
          !/I6: what is shown|I6: window/.test(t) || (pruned.size === 0 && tieredEver.size === 0),
      );
    if (wrong.length > 0) throw new Error(`${name}: ${wrong.join('; ')}`);
    const counts =
      await server.query(`select s.name, d.day::text, d.records, d.gone, c.n, c.g from daywalk.days d join daywalk.streams s using (stream_id)
       cross join lateral (select count(*) as n, count(*) filter (where gone_since is not null) as g from daywalk.shown_records r where r.stream_id = d.stream_id and r.day = d.day) as c
      where not exists (select from daywalk.tiered_days t where t.stream_id = d.stream_id and t.day = d.day) and (d.records <> c.n or d.gone <> c.g)`);
    if (counts.length > 0)
      throw new Error(`${name}: days count otherwise ${JSON.stringify(counts)}`);
    if (pruned.size === 0 && tieredEver.size === 0) {
      const over = await overlooked(server);
      if (over.length > 0) throw new Error(`${name}: overlooked ${over.join('; ')}`);
    }
    for (const day of ['2026-03-04', ...DAYS]) {
      const bad = await server.query(`select * from daywalk.check_shared('events', $1)`, [day]);
      if (bad.length > 0) throw new Error(`${name}: check_shared ${day} ${JSON.stringify(bad)}`);
    }
    const { findings } = await checkTieredDays(parts, await listMovedDays(database, null, null));
    if (findings.length > 0)
      throw new Error(`${name}: verify finds wrong ${JSON.stringify(findings)}`);
    return now;
  };
  let state = {
    fps: await fps(),
    idents: await idents(),
    res: await resourceFps(),
    rows: await shownNow(),
  };
  const length = Number(process.env.STEPS ?? 40);
  const width = Number(process.env.WIDTH ?? 1);
  for (let i = 0; i < length; i++) {
    let name: string;
    if (width === 1) name = await step();
    else {
      const ends = await Promise.allSettled(Array.from({ length: width }, () => step()));
      const named = ends.map((e) =>
        e.status === 'fulfilled'
          ? e.value
          : `!${(e.reason as Error).name}: ${(e.reason as Error).message.slice(0, 200)}`,
      );
      for (const one of named)
        if (
          one.startsWith('!') &&
          !/LeaseLost|BrokenChain|another worker|is being walked|TransientError|not as they were walked|no day|no cut|nothing is due|no walk was opened|ledger_due|too many|missing|no window/.test(
            one,
          )
        )
          throw new Error(`${named.join(' | ')}`);
      name = (named.find((one) => one.startsWith('hours')) ?? '') + named.join(' | ');
      if (named.some((one) => /^(prune|superseded)/.test(one))) name = `prune ${name}`;
      if (named.includes('id_path set')) name = 'id_path set';
    }
    log.push(name);
    if (width !== 1 && rnd() < 0.25) {
      await letHoursPass(database, 1.5);
      await server.query(
        "update daywalk.days d set unsealed = true where not exists (select from daywalk.prunings g where g.stream_id = d.stream_id and g.day = d.day and g.what = 'day')",
      );
      name = `hours ${name}`;
    }
    if (name.startsWith('hours'))
      state = {
        fps: await fps(),
        idents: await idents(),
        res: await resourceFps(),
        rows: await shownNow(),
      };
    else state = await check(name, state);
  }
  if (world.volatile) world.ignored = ['/n'];
  // Comes to rest.
  for (let round = 0; round < 4; round++) {
    for (const s of streams) for (let d = 0; d < DAYS.length; d++) await walkDay(s, d);
    for (const s of streams)
      for (let d = -1; d < DAYS.length; d++)
        log.push(`rest cut ${s.name} ${d} ${await askCut(s, d)}`);
    state = await check('rest', state);
    await letHoursPass(database, 3);
    await server.query(
      "update daywalk.days d set unsealed = true where not exists (select from daywalk.prunings g where g.stream_id = d.stream_id and g.day = d.day and g.what = 'day')",
    );
    state = {
      fps: await fps(),
      idents: await idents(),
      res: await resourceFps(),
      rows: await shownNow(),
    };
  }
  await append();
  await tables();
  // Exactly once.
  for (const s of streams) {
    const rows = state.rows.filter((r) => r.stream === s.name);
    for (const rec of world.seen(s.filtered)) {
      const days = rec.pos === 'edge' ? [rec.day, rec.day + 1] : [rec.day];
      const names = days.map((d) => `${s.name} ${DAYS[d]}`);
      if (
        names.some((n) => pruned.has(n)) ||
        (world.style === 'after' && rec.pos === 'edge' && rec.day === DAYS.length - 1)
      )
        continue;
      const mine = rows.filter((r) => r.id === rec.id && r.v === rec.v);
      const live = mine.filter((r) => !r.gone);
      if (names.some((n) => tieredEver.has(n))) {
        if (mine.length > 1 && !names.some((n) => tieredEver.has(n)))
          throw new Error(`rest: doubled ${JSON.stringify([rec, mine])}`);
        continue;
      }
      if (live.length !== 1 || mine.length !== 1)
        throw new Error(
          `rest: ${JSON.stringify(rec)} is shown ${mine.length} times, ${live.length} of them live: ${mine.map((m) => m.line).join(' | ')}`,
        );
    }
  }
}

it('all of them hold the same after whatever happened', async () => {
  database = openDatabase(server.url);
  const first = Number(process.env.SEED ?? 1);
  const runs = Number(process.env.RUNS ?? tries(1, 3));
  const failures: string[] = [];
  const until = Date.now() + Number(process.env.SECONDS ?? 100) * 1000;
  for (let seed = first; seed < first + runs && Date.now() < until; seed++) {
    const log: string[] = [];
    try {
      await run(seed, log);
    } catch (error) {
      failures.push(
        `seed ${seed}: ${(error as Error).message.slice(0, 1500)}\n  ${log.join('\n  ')}`,
      );
      if (failures.length >= Number(process.env.MOST ?? 3)) break;
    }
  }

  expect(failures.join('\n\n')).toBe('');
}, 1_000_000);
