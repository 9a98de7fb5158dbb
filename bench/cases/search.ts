/** Case `search`: a value on few pages or on none, what the filters take, and how often they let a page pass in vain. */
import type { Bench, Case, Row } from '../case.ts';
import type { Scratch } from '../databases.ts';
import { againstFloor, againstLimit, type Format, milliseconds, seconds } from '../rows.ts';
import { inTurn, timed } from '../statistics.ts';
import { dayAfter, FIRST_DAY, type Workload, withExported } from '../workload.ts';
import { limitHere } from '../yardstick.ts';

const ROUNDS = 9;
/** Other values that are looked for, in order to count the pages that are opened in vain. */
const PROBES = 200;
const SEARCH_MS = 100;
const NEEDLE = 'a value on three pages';

const FILTERS = `select daywalk.make_filters(s.stream_id, $1::date, 16000000) as looked from daywalk.streams s`;
const SEALS = `select count(daywalk.body_digest(body)) from daywalk.pages where day = $1::date`;
const SEARCH = 'select count(*)::integer as hits from daywalk.search($1, $2::date, $3::date)';
const SCAN = `select count(*)::integer as hits from daywalk.shown_records
               where day between $2::date and $3::date and jsonb_path_exists(record, 'strict $.** ? (@ == $text)', jsonb_build_object('text', $1::text))`;

const percent: Format = (value) => `${(value * 100).toFixed(3)} %`;

async function makeFilters({ query }: Scratch, days: number): Promise<void> {
  for (let day = 0; day < days; day++)
    for (;;) {
      const [row] = await query<{ looked: number }>(FILTERS, [dayAfter(day)]);
      if (!row?.looked) break;
    }
}

async function makeDigests({ query }: Scratch, days: number): Promise<void> {
  for (let day = 0; day < days; day++) await query(SEALS, [dayAfter(day)]);
}

async function measureSearch(bench: Bench, workload: Workload, scratch: Scratch): Promise<Row[]> {
  const { query } = scratch;
  const pages = (workload.days * workload.pagesPerDay).toLocaleString('en-US');
  const range = [FIRST_DAY, dayAfter(workload.days - 1)];
  await query(
    `update daywalk.pages set body = jsonb_set(body, '{data,7,needle}', to_jsonb($1::text))
      where (walk_id, page_no) in (select p.walk_id, p.page_no from daywalk.pages p join daywalk.walks k using (walk_id)
                                    where k.shown = 'whole' and p.records > 10 order by p.day, p.page_no limit 3)`,
    [NEEDLE],
  );
  await query('vacuum analyze');
  bench.say(`filters of ${pages} pages`);
  const making = await timed(() => makeFilters(scratch, workload.days));
  const sealing = await timed(() => makeDigests(scratch, workload.days));
  await query('vacuum analyze daywalk.page_filters');
  const rounds = bench.quick ? 1 : ROUNDS;
  const hits = (sql: string, value: string, expected: number) => async () => {
    const [row] = await query<{ hits: number }>(sql, [value, ...range]);
    if (row?.hits !== expected) throw new Error(`${row?.hits} hits where ${expected} are`);
  };
  bench.say(`searching ${pages} pages`);
  const { few, none } = await inTurn(rounds, {
    few: () => timed(hits(SEARCH, NEEDLE, 3)),
    none: () => timed(hits(SEARCH, 'nowhere', 0)),
  });
  const scan = [await timed(hits(SCAN, NEEDLE, 3))];
  const [found] = await query<{ share: number; passed: number }>(
    `select (select sum(octet_length(filter)) from daywalk.page_filters)::float8 / (select sum(byte_count) from daywalk.pages) as share,
            (select sum(cardinality(d.walk_ids))::float8 / count(distinct probe) / (select count(*) from daywalk.pages)
               from generate_series(1, $3) as probe
              cross join daywalk.streams s
              cross join lateral daywalk.pages_to_open(daywalk.sought('nowhere ' || probe), s.stream_id, $1::date, $2::date) as d) as passed`,
    [...range, bench.quick ? 5 : PROBES],
  );
  const limit = limitHere(bench.yardstick, 'insert', SEARCH_MS);
  const told = (what: string, format: Format) => ({ what, format, unit: bench.yardstick.insert });
  return [
    againstLimit(told(`a value on 3 of ${pages} pages`, milliseconds), few, limit),
    againstLimit(told(`a value on none of ${pages} pages`, milliseconds), none, limit),
    againstLimit(told(`the same ${pages} pages without filters`, seconds), scan, null),
    againstLimit(
      { what: `${pages} pages: filters of bytes received`, format: percent },
      [found?.share ?? Number.NaN],
      null,
    ),
    againstLimit(
      { what: `${pages} pages: pages opened in vain`, format: percent },
      [found?.passed ?? Number.NaN],
      null,
    ),
    againstFloor(
      { what: `${pages} pages: making filters`, format: seconds },
      [making],
      [sealing],
      null,
    ),
  ];
}

export const searching: Case = {
  name: 'search',
  title: 'Search',
  about:
    '500,000 events in pages of 500 and of 50 records, exported, then searched by `daywalk.search` for a value that stands on three of them and for one that stands nowhere. How large the filters are, which share of pages is opened for a value that is not on them, and what it takes to make them; floor: the digests of the same pages, as for the ledger.',
  limitMs: 600_000,
  async run(bench) {
    const rows: Row[] = [];
    const sizes: readonly Workload[] = bench.quick
      ? [{ days: 2, pagesPerDay: 2, pageLength: 50 }]
      : [
          { days: 50, pagesPerDay: 20, pageLength: 500 },
          { days: 100, pagesPerDay: 100, pageLength: 50 },
        ];
    for (const workload of sizes)
      rows.push(
        ...(await withExported(bench, workload, (scratch) =>
          measureSearch(bench, workload, scratch),
        )),
      );
    return {
      rows,
      notes: [
        `${bench.quick ? 1 : ROUNDS} rounds of each search; ${bench.quick ? 5 : PROBES} values that stand nowhere.`,
      ],
    };
  },
  words: {
    reached:
      'The filter of each page is looked into, some bytes of it, and only pages that it does not rule out are opened. Filters are made when the walking of a run is done, so that they take nothing from it.',
    missed:
      'The filter of each page is looked into, some bytes of it, and only pages that it does not rule out are opened. The time for a value that stands nowhere is that of the filters and of the coverage, and grows with the pages; a condition on days makes it smaller. Filters are made when the walking of a run is done, so that they take nothing from it.',
  },
};
