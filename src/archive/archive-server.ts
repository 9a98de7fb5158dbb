/** The served archive on HTTP: the two operations of the API, its key header, and errors as JSON. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { type Answer, json } from '../answer.ts';
import { ObjectStoreError, TransientError, UnavailableError } from '../errors.ts';
import { type IncomingRequest, type Listener, type ListenerParts, listen } from '../listener.ts';
import type { Logger } from '../log.ts';
import { RESOURCES } from '../model.ts';
import type { ServedArchive } from './page.ts';
import { Refusal, readQuery } from './query.ts';

/** What the server works with. */
export interface ArchiveServerParts extends Pick<ListenerParts, 'address' | 'clock' | 'log'> {
  readonly archive: Pick<ServedArchive, 'page'>;
  readonly key: string;
}

/** Questions that are worked on at a time: each holds some MB here, and keeps a process of Postgres busy. */
const MOST_QUESTIONS = 4;
/** How long one may be worked on. Milliseconds. */
const QUESTION_MS = 30_000;
const LONGEST_URL = 8_000;

/**
 * Begins to serve.
 * @throws {SettingsError} when the address cannot be listened on.
 */
export function serveArchive(parts: ArchiveServerParts): Promise<Listener> {
  return listen({
    ...parts,
    name: 'the archive',
    hint: 'Set archive.listen (--archive-listen) to another address and port.',
    longestUrl: LONGEST_URL,
    most: MOST_QUESTIONS,
    route: (asked) => route(parts, asked),
    refuse: (status, error, headers) => json(status, { error }, headers),
  });
}

/** The key comes first, so that nothing is told to who has none. */
function route(parts: ArchiveServerParts, { path, query, headers }: IncomingRequest) {
  try {
    if (!isKey(headers['x-api-key'], parts.key))
      throw new Refusal(401, 'the X-API-Key header is missing or wrong');
    const resource = RESOURCES.find((name) => path === `/api/${name}`);
    if (resource === undefined) throw new Refusal(404, 'there is no such resource');
    const asked = readQuery(query);
    return (gone: AbortSignal) => answer(parts, resource, asked, gone);
  } catch (error) {
    return refused(error, parts.log);
  }
}

/** Compared as digests, which are of one length and tell nothing by how long it takes. */
function isKey(given: string | string[] | undefined, key: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(String(given ?? '')), digest(key));
}

async function answer(
  { archive, clock, log }: ArchiveServerParts,
  ...[resource, asked, gone]: Parameters<ServedArchive['page']>
): Promise<Answer> {
  const since = clock.monotonic();
  const late = clock.timeout(QUESTION_MS);
  try {
    const signal = AbortSignal.any([gone, late]);
    const { body, total } = await archive.page(resource, asked, signal);
    const ms = Math.round(clock.monotonic() - since);
    log.info({ resource, ...asked, total, ms }, 'served');
    const type = 'application/json; charset=utf-8';
    return { status: 200, type, body, headers: { 'x-total-count': String(total) } };
  } catch (error) {
    if (gone.aborted) throw error;
    const hint = 'Ask again: it goes on where it was. Fewer days take less.';
    const why = `not answered within ${QUESTION_MS / 1_000} s`;
    return refused(late.aborted ? new Refusal(503, why, hint) : error, log);
  }
}

function refused(error: unknown, log: Logger): Answer {
  if (error instanceof Refusal) {
    const { status, message, hint, more } = error;
    log.info({ status, why: message }, 'refused');
    return refusal(status, { error: message, hint, ...more });
  }
  log.error({ err: error }, 'not answered');
  if (error instanceof ObjectStoreError) {
    const { fault, message, hint } = error;
    return refusal(fault === 'away' ? 503 : 500, { error: message, hint });
  }
  const away = error instanceof TransientError || error instanceof UnavailableError;
  return away
    ? refusal(503, { error: 'the database does not answer' })
    : refusal(500, { error: 'unexpected; the log tells more' });
}

const refusal = (status: number, value: object): Answer =>
  json(status, value, status === 503 ? { 'retry-after': '1' } : {});
