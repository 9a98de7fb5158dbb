/** A random server: answers over HTTP what its nature lists, in its envelope, with its faults. Written from docs/api-contract.md. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { Dice, mix, seedNumber } from '../../../simulator/random.ts';
import { type Answer, wrap } from '../envelopes.ts';
import { type Asked, type Listed, Lists, lasts, type Row } from './listing.ts';
import type { Nature, OutageAnswer } from './nature.ts';
import type { World } from './world.ts';

/** One request and what became of it, for a trace. */
export interface Exchange {
  readonly number: number;
  readonly seconds: number;
  readonly from: string;
  readonly to: string;
  readonly start: number;
  readonly length: number;
  readonly levels: string;
  readonly status: number | 'cut';
  readonly records: number;
  readonly answer: string;
}

/** A running server. */
export interface RandomServer {
  readonly url: string;
  readonly world: World;
  readonly exchanges: readonly Exchange[];
  close(): Promise<void>;
}

type Outgoing = Answer & {
  readonly headers?: Readonly<Record<string, string>>;
  /** The connection ends in the middle of the body. */
  readonly cut?: true;
  readonly records?: number;
};

const ERROR: Outgoing = { status: 500, body: '{"error":"internal error"}' };
const OUTAGES: Readonly<Record<Exclude<OutageAnswer, 'empty'>, Outgoing>> = {
  strange: { status: 200, body: '{"note":"search backend unavailable","hits":[]}' },
  error: { status: 200, body: '{"error":"search backend unavailable","data":[]}' },
  429: { status: 429, body: '{"error":"too many requests"}', headers: { 'Retry-After': '2' } },
  500: ERROR,
  html: { status: 200, body: '<!DOCTYPE html><html><body>Please log in</body></html>' },
  cut: { ...ERROR, cut: true },
};
const WEATHER: readonly Outgoing[] = [
  OUTAGES[429],
  { status: 429, body: '{"error":"too many requests"}' },
  ERROR,
  { status: 503, body: '<html>busy</html>' },
  OUTAGES.html,
  OUTAGES.cut,
];

/** Starts the server of a nature on loopback. */
export async function startServer(nature: Nature, world: World): Promise<RandomServer> {
  const lists = new Lists(nature, world);
  const exchanges: Exchange[] = [];
  const times = new Map<string, number>();
  const cached = new Map<string, { readonly at: number; readonly answer: Outgoing }>();
  const connections = new WeakMap<Socket, number>();
  let connected = 0;

  const answerTo = (asked: Asked): Outgoing => {
    const dice = new Dice(mix(nature.seed, seedNumber(asked.address), asked.time, 5));
    if (dice.next() < nature.weather) return dice.pick(WEATHER);
    const known = cached.get(asked.address);
    if (known !== undefined && world.seconds - known.at < nature.cacheSeconds) return known.answer;
    const { outage, partial } = nature;
    if (outage !== null && lasts(outage, asked, world))
      return outage.answer === 'empty' ? nothing(nature, asked) : OUTAGES[outage.answer];
    if (partial?.marked && lasts(partial, asked, world)) return failedShard(nature, asked);
    const answer = wrapped(nature, asked, lists.list(asked), dice, world.seconds);
    if (nature.cacheSeconds > 0) cached.set(asked.address, { at: world.seconds, answer });
    return answer;
  };

  const server = createServer((request, response) => {
    const query = new URLSearchParams(request.url?.split('?')[1] ?? '');
    const address = query.toString();
    const time = times.get(address) ?? 0;
    times.set(address, time + 1);
    const asked: Asked = {
      ...readQuery(query),
      address,
      time,
      number: world.count(),
      connection: connections.get(request.socket) ?? 0,
    };
    const answer = answerTo(asked);
    exchanges.push({
      number: asked.number,
      seconds: Math.round(world.seconds),
      from: query.get('fromDate') ?? '',
      to: query.get('toDate') ?? '',
      start: asked.start,
      length: asked.length,
      levels: asked.levels === null ? '' : `levels ${asked.levels.from}-${asked.levels.to}`,
      status: answer.cut ? 'cut' : answer.status,
      records: answer.records ?? 0,
      answer: answer.body.slice(0, 160),
    });
    send(nature, request, response, answer);
  });
  server.on('connection', (socket: Socket) => {
    connected += 1;
    connections.set(socket, connected);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    world,
    exchanges,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

function readQuery(query: URLSearchParams) {
  const number = (name: string) => Number(query.get(name));
  const time = (name: string) => Date.parse(`${query.get(name)?.replace(' ', 'T')}Z`);
  const [low, high] = [query.get('rule_level_from'), query.get('rule_level_to')];
  return {
    from: time('fromDate'),
    to: time('toDate'),
    start: number('start'),
    length: number('length'),
    levels: low || high ? { from: Number(low || 0), to: Number(high || 15) } : null,
  };
}

/** A record as it is sent. */
function textOf({ record, offset }: Row, nature: Nature, dice: Dice, seconds: number): string {
  const { time, content, level, serial } = record;
  const volatile = {
    row: { row: offset + 1 },
    score: { score: Math.round(dice.next() * 1e6) / 1e6 },
    age: { age: `${Math.floor(seconds / 60)} minutes ago` },
  };
  const source = {
    timestamp: new Date(time).toISOString().replace('Z', '+0000'),
    c: content,
    ...(nature.ids ? { id: `u${serial}` } : {}),
    ...(level === null ? {} : { rule: { level } }),
    ...(nature.volatile === null ? {} : volatile[nature.volatile]),
  };
  if (nature.envelope !== 'elasticsearch') return JSON.stringify(source);
  return JSON.stringify({
    _index: 'events',
    ...(nature.ids ? { _id: `u${serial}` } : {}),
    _source: source,
  });
}

function wrapped(
  nature: Nature,
  asked: Asked,
  listed: Listed,
  dice: Dice,
  seconds: number,
): Outgoing {
  if ('refused' in listed)
    return { status: listed.refused, body: JSON.stringify({ error: listed.why }) };
  const { rows, total, more } = listed;
  const page = {
    records: rows.map((row) => textOf(row, nature, dice, seconds)),
    total: total === null ? null : nature.total === 'text' ? `"${total}"` : String(total),
    start: asked.start,
    length: asked.length,
    more,
    atLeast: nature.total === 'lower bound' && total === nature.totalLimit,
  };
  return { ...wrap(nature.envelope, page, nature.emptyAnswer), records: rows.length };
}

const nothing = (nature: Nature, asked: Asked): Outgoing =>
  wrapped(
    nature,
    asked,
    { rows: [], total: nature.total === 'none' ? null : 0, more: false },
    new Dice(0),
    0,
  );

/** A page that says of itself that it is not whole. */
function failedShard(nature: Nature, asked: Asked): Outgoing {
  const { body } = nothing({ ...nature, emptyAnswer: 'same' }, asked);
  return {
    status: 200,
    body: body.startsWith('{')
      ? `{"_shards":{"total":5,"successful":4,"failed":1},${body.slice(1).replace('"failed":0', '"failed":1')}`
      : '{"error":"1 of 5 shards failed"}',
  };
}

function send(
  nature: Nature,
  request: IncomingMessage,
  response: ServerResponse,
  answer: Outgoing,
): void {
  const packed =
    nature.gzip &&
    String(request.headers['accept-encoding'] ?? '').includes('gzip') &&
    answer.body !== '';
  const body = packed ? gzipSync(answer.body) : Buffer.from(answer.body);
  response.statusCode = answer.status;
  response.setHeader(
    'Content-Type',
    answer.body.startsWith('<') ? 'text/html' : 'application/json',
  );
  if (packed) response.setHeader('Content-Encoding', 'gzip');
  for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
  if (answer.cut) {
    response.setHeader('Content-Length', body.length + 100);
    response.write(body, () => request.socket.destroy());
    return;
  }
  if (!nature.chunked && answer.status !== 204) response.setHeader('Content-Length', body.length);
  if (answer.body !== '') response.write(body);
  response.end();
}
