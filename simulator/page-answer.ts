/** Answers a request as the API would when nothing is wrong with the network: key, parameters, limits, page. */
import { writeEnvelope } from './envelopes.ts';
import type { EventStream } from './event-stream.ts';
import { type Query, type Resource, readQuery } from './query.ts';
import { Dice, mix } from './random.ts';
import type { SimulatedRequest } from './request-log.ts';
import { pageOf } from './selection.ts';
import type { Switches } from './switches.ts';
import { instantsOf } from './wall-time.ts';

/** What is to be sent, before any fault spoils it. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** How many records the body lists; undefined when it has no page. */
  readonly records?: number;
}

/** A page, and what it was a page of. */
export interface PageAnswer extends Answer {
  readonly resource: Resource;
  readonly query: Query;
  readonly records: number;
}

const NOTHING = Buffer.alloc(0);

/** A JSON answer that is no page: `{"error":…}` with what more there is to say. */
export function errorAnswer(status: number, error: string, more: object = {}): Answer {
  const body = Buffer.from(JSON.stringify({ error, ...more }));
  return { status, headers: { 'content-type': 'application/json' }, body };
}

/** What is refused before a fault may happen: another path, another method. */
export function refusal(request: SimulatedRequest): Answer | undefined {
  if (request.resource === undefined) return errorAnswer(404, 'no such resource');
  if (request.method !== 'GET') {
    const answer = errorAnswer(405, 'only GET is understood here');
    return { ...answer, headers: { ...answer.headers, allow: 'GET' } };
  }
  return undefined;
}

/** Answers a request for a resource. `noList` is for the fault of that name. */
export function answerPage(
  request: SimulatedRequest,
  streams: Readonly<Record<Resource, EventStream>>,
  switches: Switches,
  seed: number,
  noList: boolean,
): Answer | PageAnswer {
  const resource = request.resource;
  if (resource === undefined) return errorAnswer(404, 'no such resource');
  if (request.headers['x-api-key'] !== switches.key) {
    return errorAnswer(401, 'the X-API-Key header is missing or wrong');
  }
  const problems = headerProblems(request, switches);
  const read = readQuery(rawQuery(request.path));
  if ('problems' in read) problems.push(...read.problems);
  if ('problems' in read || problems.length > 0) {
    return errorAnswer(400, 'bad request', { problems });
  }

  const { query } = read;
  const { maxLength, clamp, offsetCap } = switches;
  if (maxLength !== null && query.length > maxLength.limit) {
    return errorAnswer(maxLength.status, `length: the largest is ${maxLength.limit}`);
  }
  let length = Math.min(query.length, clamp ?? query.length);
  const start = switches.ignoreStart ? 0 : query.start;
  if (offsetCap !== null) {
    const byEnd = (offsetCap.by ?? 'end') === 'end';
    const tooDeep = byEnd ? start + length > offsetCap.limit : start >= offsetCap.limit;
    if (tooDeep && offsetCap.answer !== 'empty') {
      return errorAnswer(
        offsetCap.answer,
        `Result window is too large, from + size must be less than or equal to: [${offsetCap.limit}]`,
      );
    }
    if (tooDeep) length = Math.max(0, byEnd ? offsetCap.limit - start : 0);
  }

  const stream = streams[resource];
  const instants = instantsOf(query.from, query.to, switches);
  const selection = stream.select(instants, query.filters);
  const dice = new Dice(mix(seed, request.number));
  const page = pageOf(selection, start, length, switches.order, dice);
  const counts = {
    matching: selection.length,
    page: page.length,
    store: () => stream.size(instants.to - 1),
  };
  const shape = switches.envelope;
  return {
    status: 200,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: writeEnvelope(shape, switches.totals, page, counts, noList),
    records: noList || shape === 'none' ? 0 : page.length,
    resource,
    query,
  };
}

/** The part of a request target behind the first question mark. */
export function rawQuery(path: string): string {
  const mark = path.indexOf('?');
  return mark < 0 ? '' : path.slice(mark + 1);
}

/** An answer without a body. */
export function emptyAnswer(status: number, headers: Readonly<Record<string, string>>): Answer {
  return { status, headers, body: NOTHING };
}

function headerProblems(request: SimulatedRequest, switches: Switches): string[] {
  const { headers } = request;
  const problems: string[] = [];
  if (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0) {
    problems.push('a body: the request has none');
  }
  if (!switches.requireHeaders) return problems;
  for (const name of ['content-type', 'accept'] as const) {
    if (headers[name] !== 'application/json')
      problems.push(`header ${name}: application/json is expected`);
  }
  return problems;
}
