/** The obvious loop, as a good engineer writes it in an hour: fetch, parse, insert, next page, next day. Run as a program. */
import pg from 'pg';

const [base = '', database = '', from = '', to = '', pageLength = '1000'] = process.argv.slice(2);
const length = Number(pageLength);

const client = new pg.Client({ connectionString: database });
await client.connect();
await client.query(
  'create table if not exists pages (day date, start integer, body jsonb, primary key (day, start))',
);
for (let day = from; day <= to; day = nextDay(day)) {
  for (let start = 0; ; start += length) {
    const query = new URLSearchParams({
      start: String(start),
      length: String(length),
      fromDate: `${day} 00:00:00`,
      toDate: `${day} 23:59:59`,
    });
    const answer = await fetch(`${base}/api/events?${query}`, {
      headers: { 'X-API-Key': 'bench-key', Accept: 'application/json' },
    });
    if (!answer.ok) throw new Error(`${answer.status} at ${day}, ${start}`);
    const page = (await answer.json()) as { data: unknown[] };
    await client.query('insert into pages values ($1, $2, $3) on conflict do nothing', [
      day,
      start,
      JSON.stringify(page),
    ]);
    if (page.data.length < length) break;
  }
}
await client.end();

function nextDay(day: string): string {
  return new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);
}
