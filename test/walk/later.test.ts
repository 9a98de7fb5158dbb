/** What a source shows otherwise once a day is complete: late events, edits of all records, days that it keeps no more. */
import { describe, expect, it } from 'vitest';
import { audit } from '../support/audit.ts';
import type { TestDatabase } from '../support/database.ts';
import { andAtNight } from '../support/night.ts';
import { letTimePass } from '../support/pass-time.ts';
import { freshStore, records } from '../support/store.ts';
import { closedDays, exported, newStream, readResults, retiredDays, runOnce } from './exporting.ts';
import { type Habits, ImaginedSource, idOf } from './imagined-source.ts';

let server: TestDatabase;
const [first = '', second = ''] = closedDays(2);

freshStore((store) => {
  ({ server } = store);
});

describe('late events of the same kinds as those before', () => {
  const event = (id: number, host: string) => `{"at": ${id * 60}, "id": ${id}, "host": "${host}"}`;
  const numbered: Habits['wrap'] = (list, _, { start }) =>
    `[${list.map((record, n) => record.replace(/}$/, `, "row": ${start + n + 1}}`)).join()}]`;

  it.each(
    andAtNight(
      [
        [['id'], {}],
        [undefined, { wrap: numbered }],
      ],
      [[undefined, {}]],
    ),
  )('are events of their own, identified by %s, %o', async (idPath, habits) => {
    const before = [event(12, 'a'), event(9, 'b')];
    const source = new ImaginedSource(
      { [first]: before, [second]: before },
      { at: (record) => JSON.parse(record).at, ...habits },
    );
    const stream = { ...newStream(), ...(idPath && { idPath }) };
    const exporting = { server, source, stream, since: first, pageLength: 30, recheckDays: 7 };
    await runOnce(exporting);
    for (const day of [first, second])
      source.lists.set(`${day} 00:00:00`, [event(27, 'a'), event(21, 'b'), ...before]);
    await server.query('update daywalk.windows set due_at = clock_timestamp()');
    await runOnce(exporting);
    for (const { state, published } of (await readResults(server, stream)).values())
      expect({ state, ids: published.map(idOf).sort() }).toEqual({
        state: 'complete',
        ids: [12, 21, 27, 9].map((id) => id * 60).sort(),
      });
    expect(await audit(server)).toEqual([]);
  });
});

it('a record that is gone is no older version of another one that stood in one list with it', async () => {
  const event = (id: number, host: string) => `{"id": ${id}, "host": "${host}"}`;
  const rest = [event(2, 'a'), event(3, 'a'), event(1, 'b'), event(2, 'b')];
  const source = new ImaginedSource({
    [first]: records(400, 5),
    [second]: [event(1, 'a'), ...rest],
  });
  const stream = { ...newStream(), idPath: ['id'] };
  const exporting = { server, source, stream, since: first, pageLength: 30, recheckDays: 7 };
  await exported(exporting);
  source.lists.set(`${second} 00:00:00`, rest);
  for (let look = 0; look < 3; look += 1) {
    await letTimePass(server, '1 day');
    await runOnce(exporting);
  }
  const gone = await server.query(
    `select record ->> 'host' as host from daywalk.events where stream = $1 and day = $2 and gone_since is not null`,
    [stream.name, second],
  );
  expect(gone).toEqual([{ host: 'a' }]);
});

it('records nested deeper than a stack holds are compared, and a late one beside them is shown', async () => {
  const nested = (id: number, levels: number) =>
    `{"id": ${id}, "raw": ${'['.repeat(levels)}${']'.repeat(levels)}}`;
  // The first is stored as a repaired copy, the second as it came.
  const before = [nested(9, 20_000), nested(10, 5_000), ...records(11, 2)];
  const source = new ImaginedSource({ [first]: before, [second]: records(31, 3) });
  const stream = newStream();
  const exporting = { server, source, stream, since: first, pageLength: 30, recheckDays: 7 };
  await runOnce(exporting);
  source.lists.set(`${first} 00:00:00`, [...before, ...records(15, 1)]);
  await letTimePass(server, '25 hours');
  await runOnce(exporting);
  const days = [...(await readResults(server, stream)).values()];
  expect(days.map(({ state, published }) => [state, published.length])).toEqual([
    ['complete', 5],
    ['complete', 3],
  ]);
});

/** Both days as they are after four daily looks. */
async function lookedAtDaily(source: ImaginedSource) {
  const stream = newStream();
  const exporting = { server, source, stream, since: first, pageLength: 30, recheckDays: 7 };
  await runOnce(exporting);
  for (let look = 0; look < 4; look += 1) {
    await letTimePass(server, '25 hours');
    await runOnce(exporting);
  }
  const results = await readResults(server, stream);
  return [first, second].flatMap((day) => results.get(day) ?? []);
}

it.each(andAtNight([4], [33]))(
  'a link that is signed anew in some records, here in %i, does not have their days walked again at each look',
  async (id) => {
    let signed = 0;
    const lists = { [first]: records(1, 4), [second]: records(31, 3) };
    const source = new ImaginedSource(lists, {
      totals: 'exact',
      wrap: (list, total) => {
        signed += 1;
        const linked = list.map((record) =>
          idOf(record) === id ? record.replace(/}$/, `,"pcap":"/p?token=${signed}"}`) : record,
        );
        return `{"total":${total},"data":[${linked.join()}]}`;
      },
    });
    const days = await lookedAtDaily(source);
    expect(days.map(({ state, published }) => [state, published.length])).toEqual([
      ['complete', 4],
      ['complete', 3],
    ]);
    expect(Math.max(...days.map(({ walks }) => walks))).toBeLessThan(3);
  },
);

it.each(andAtNight([3], [2, 9]))(
  'days of %i records are shown once where two nodes answer by turns, and each writes its name into them',
  async (count) => {
    const lists = { [first]: records(1, count), [second]: records(31, count) };
    let asked = 0;
    const source = new ImaginedSource(lists, {
      totals: 'exact',
      wrap: (list, total) => {
        asked += 1;
        const named = list.map((record) => record.replace(/}$/, `,"node":"es-data-${asked % 2}"}`));
        return `{"total":${total},"data":[${named.join()}]}`;
      },
    });
    const days = await lookedAtDaily(source);
    expect(days.map(({ state, published }) => [state, published.length])).toEqual([
      ['complete', count],
      ['complete', count],
    ]);
    expect(asked).toBeLessThan(250);
  },
);

describe('records of which all were changed since', () => {
  const alert = (id: number, status: string, score: number) =>
    `{"id": ${id}, "score": ${score}, "status": "${status}"}`;
  const alerts = (from: number, status: string, score: number) =>
    [0, 3, 8].map((n) => alert(from + n, status, score + n));

  /** Two days of alerts, one of which, or both, come otherwise once they are complete. */
  async function changed(
    change: Readonly<Record<string, readonly string[]>>,
    habits: Habits = {},
    lists = { [first]: alerts(10, 'open', 15), [second]: alerts(20, 'open', 17) },
  ) {
    const source = new ImaginedSource(lists, { totals: 'exact', ...habits });
    const stream = { ...newStream(), idPath: ['id'] };
    const exporting = { server, source, stream, since: first, pageLength: 30, recheckDays: 7 };
    await exported(exporting);
    for (const [day, list] of Object.entries(change)) source.lists.set(`${day} 00:00:00`, list);
    for (let look = 0; look < 2; look += 1) {
      await server.query('update daywalk.windows set due_at = clock_timestamp()');
      await runOnce(exporting);
    }
    const [ignored] = await server.query<{ value: readonly string[] }>(
      `select value from daywalk.learned where fact = 'ignored'`,
    );
    const results = await readResults(server, stream);
    return { ignored: ignored?.value ?? [], shown: results.get(second)?.published };
  }

  it('by hand, are shown as they are now', async () => {
    const closed = alerts(20, 'closed', 17);
    const { shown, ignored } = await changed({ [second]: closed });
    expect({ shown, ignored }).toEqual({ shown: closed, ignored: [] });
  });

  it('by hand on every day, are shown as they are now', async () => {
    const closed = alerts(20, 'closed', 17);
    const { shown, ignored } = await changed({
      [first]: alerts(10, 'closed', 15),
      [second]: closed,
    });
    expect({ shown, ignored }).toEqual({ shown: closed, ignored: [] });
  });

  it('by hand on every day, from several values to one, are shown as they are now', async () => {
    const open = (from: number, status: readonly string[]) =>
      status.map((each, n) => alert(from + n * n * 3, each, 15 + n * n));
    const closed = open(20, ['closed', 'closed', 'closed']);
    const { shown, ignored } = await changed(
      { [first]: open(10, ['closed', 'closed']), [second]: closed },
      {},
      { [first]: open(10, ['open', 'ack']), [second]: open(20, ['open', 'ack', 'open']) },
    );
    expect({ shown, ignored }).toEqual({ shown: closed, ignored: [] });
  });

  it('by hand on every day, each to its next state, are shown as they are now', async () => {
    const two = (from: number, states: readonly string[]) =>
      states.map((state, n) => alert(from + 3 * n, state, 15 + n));
    const closed = two(20, ['ack', 'closed']);
    const { shown, ignored } = await changed(
      { [first]: two(10, ['ack', 'closed']), [second]: closed },
      {},
      { [first]: two(10, ['open', 'ack']), [second]: two(20, ['open', 'ack']) },
    );
    expect({ shown, ignored }).toEqual({ shown: closed, ignored: [] });
  });

  it.each(andAtNight([['a state', 'open', 'closed']], [['a duration', '12s', '3m']]))(
    'of which one was, in %s, is shown as it is now',
    async (_, before, now) => {
      const some = (last: string) => [
        alert(20, '1h', 17),
        alert(23, '5m', 18),
        alert(28, last, 19),
      ];
      const { shown, ignored } = await changed(
        { [second]: some(now) },
        {},
        { [first]: alerts(10, '9s', 15), [second]: some(before) },
      );
      expect({ shown, ignored }).toEqual({ shown: some(now), ignored: [] });
    },
  );

  it('and of which a part of the day does not show one edit, are not taken for values that change each time', async () => {
    const edited = [...alerts(20, 'open', 17).slice(0, 2), alert(28, 'closed', 25)];
    const { ignored } = await changed(
      { [second]: edited },
      {
        // Parts are answered by a replica that lags.
        arrange: (list, _, { from, to }) =>
          from.endsWith('00:00:00') && to.endsWith('23:59:59')
            ? list
            : list.map((record) => record.replace('closed', 'open')),
      },
    );
    expect(ignored).toEqual([]);
  });

  it('by hand, and shown by one of two replicas, are not taken for values that change each time', async () => {
    const closed = alerts(20, 'closed', 17);
    let edited = false;
    const { ignored } = await changed(
      { [second]: closed },
      {
        arrange: (list, number) => {
          edited ||= list.some((record) => record.includes('closed'));
          return edited && number % 2 === 0
            ? list.map((record) => record.replace('closed', 'open'))
            : list;
        },
      },
    );
    expect(ignored).toEqual([]);
  });

  it('on every day, but none by another record, show what is not the record', async () => {
    const { ignored } = await changed({
      [first]: alerts(10, 'open', 115),
      [second]: alerts(20, 'open', 117),
    });
    expect(ignored).toEqual(['/score']);
  });

  it('each time that they are asked for, show what is not the record', async () => {
    let since = false;
    const { ignored } = await changed(
      { [second]: alerts(20, 'open', 117) },
      {
        arrange: (list, number) => {
          since ||= list.some((record) => record.includes('117'));
          return since
            ? list.map((record) => record.replace(/"score": /, `"score": ${number}`))
            : list;
        },
      },
    );
    expect(ignored).toEqual(['/score']);
  });
});

it('a record that is missing is gone an hour later, also where its day is walked once more before', async () => {
  const source = new ImaginedSource({ [second]: records(1, 4) }, { totals: 'exact' });
  const stream = newStream();
  const exporting = { server, source, stream, since: second, pageLength: 30, recheckDays: 7 };
  await runOnce(exporting);
  source.lists.set(`${second} 00:00:00`, records(2, 3));
  for (let walk = 0; walk < 2; walk += 1) {
    await server.query(
      `update daywalk.windows set due_at = clock_timestamp(), rewalk = true where kind = 'day'`,
    );
    await runOnce(exporting);
  }
  await letTimePass(server, '2 hours');
  await runOnce(exporting);
  expect(
    await server.query(
      `select record ->> 'id' as id from daywalk.events where stream = $1 and gone_since is not null`,
      [stream.name],
    ),
  ).toHaveLength(1);
});

describe('records into which a source joins what it knows of their senders now', () => {
  const sent = (id: number, seen: string) =>
    `{"id": ${id}, "sender": {"id": ${id % 3}, "seen": "${seen}"}}`;
  const ids = [3, 4, 8, 15, 16, 23];

  /** Shows a day again three times, on each of which those senders were seen since that are up, or changed their state. */
  async function shownLater(seen: (look: number, sender: number) => string) {
    let look = 0;
    const source = new ImaginedSource(
      { [first]: ids.map(String), [second]: ids.map(String) },
      {
        totals: 'exact',
        at: (record) => 3_600 * Number(record),
        arrange: (list) => list.map((id) => sent(Number(id), seen(look, Number(id) % 3))),
      },
    );
    const stream = newStream();
    const exporting = { server, source, stream, since: first, pageLength: 30, recheckDays: 7 };
    for (; look < 4; look += 1) {
      await runOnce(exporting);
      await letTimePass(server, '25 hours');
    }
    return server.query<{ day: string; events: number }>(
      `select day::text, count(*)::integer as events from daywalk.events where stream = $1 group by day order by day`,
      [stream.name],
    );
  }

  it.each(
    andAtNight([['one is down', (sender: number) => sender !== 1]], [['all are up', () => true]]),
  )('have each of them once, where %s', async (_, isUp) => {
    const shown = await shownLater((look, sender) => `0${isUp(sender) ? look : 0}:1${sender}`);
    expect(shown.map(({ events }) => events)).toEqual([ids.length, ids.length]);
  });

  it('have each state beside the one before, where it is told in a word', async () => {
    const shown = await shownLater((look) => ['new', 'up', 'down', 'gone'][look] ?? '');
    expect(shown.map(({ events }) => events)).toEqual([4 * ids.length, 4 * ids.length]);
  });
});

describe('a source that keeps its events for some days', () => {
  const [oldest = '', before = '', newest = ''] = closedDays(3);

  async function archived() {
    const lists = Object.fromEntries(
      [oldest, before, newest].map((day, n) => [day, records(1_000 * (n + 1), 12)]),
    );
    const source = new ImaginedSource(lists);
    const exporting = {
      server,
      source,
      stream: newStream(),
      since: oldest,
      pageLength: 30,
      recheckDays: 30,
    };
    await runOnce(exporting);
    const lookAt = async (...days: readonly string[]) => {
      await server.query(
        `update daywalk.windows set due_at = clock_timestamp() + case when day = any ($1::date[]) and kind = 'day' then '0' else interval '1 day' end`,
        [days],
      );
      await runOnce(exporting);
    };
    return { source, lookAt };
  }

  it('has not forgotten a day as long as it shows the one before', async () => {
    const { source, lookAt } = await archived();
    source.lists.set(`${before} 00:00:00`, []);
    await lookAt(before);
    expect(await retiredDays(server)).toEqual([]);
  });

  it('has not forgotten the newest day, of which no newer one tells', async () => {
    const { source, lookAt } = await archived();
    for (const day of [oldest, newest]) source.lists.set(`${day} 00:00:00`, []);
    await lookAt(newest);
    expect(await retiredDays(server)).toEqual([]);
  });

  it('has forgotten what it shows nothing of, from the oldest day on', async () => {
    const { source, lookAt } = await archived();
    for (const day of [oldest, before]) source.lists.set(`${day} 00:00:00`, []);
    await lookAt(oldest, before);
    expect(await retiredDays(server)).toEqual([oldest, before]);
    source.lists.set(`${before} 00:00:00`, records(2_000, 12));
    await server.query('update daywalk.windows set rewalk = true where day = $1', [before]);
    await lookAt(before);
    expect(await retiredDays(server)).toEqual([oldest]);
  });
});
