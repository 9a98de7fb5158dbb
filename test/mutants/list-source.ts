/** Mutants of what talks to the API, and of what keeps secrets. */
import { type Mutant, mutant } from './mutant.ts';

const BODY = 'src/source/body.ts';
const FETCH = 'src/source/fetch.ts';
const LIMITER = 'src/source/limiter.ts';

export const SOURCE_MUTANTS: readonly Mutant[] = [
  mutant(
    'a gzip body that was cut off is taken for whole',
    BODY,
    'gunzip(wire, { maxOutputLength: limitBytes, info: true }, done);',
    'gunzip(wire, { maxOutputLength: limitBytes, info: true, finishFlush: 2 }, done);',
    ['test/source/body.test.ts'],
  ),
  mutant(
    'bytes behind a gzip body are left out',
    BODY,
    'if (engine.bytesWritten === wire.length) resolve(buffer);',
    'if (engine.bytesWritten <= wire.length) resolve(buffer);',
    ['test/source/body.test.ts'],
  ),
  mutant(
    'a body has no limit after decompression',
    BODY,
    'gunzip(wire, { maxOutputLength: limitBytes, info: true }, done);',
    'void limitBytes; gunzip(wire, { info: true }, done);',
    ['test/source/body.test.ts'],
  ),
  mutant(
    'a body has no limit on the wire',
    BODY,
    'if (bytes > limitBytes) throw tooLarge(place, limitBytes);\n    if (bytes <= known)',
    'if (bytes <= known)',
    ['test/source/body.test.ts'],
  ),
  mutant(
    'half a JSON document goes on to Postgres',
    BODY,
    'if (body[to - 1] !== (first === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_LIST))',
    'if (body[to - 1] === 0)',
    ['test/source/status.test.ts'],
  ),
  mutant(
    'a login page goes on to Postgres',
    BODY,
    'if (first !== OPEN_OBJECT && first !== OPEN_LIST)',
    'if (first === 0)',
    ['test/source/status.test.ts'],
  ),
  mutant(
    'a redirect is followed, with the key',
    FETCH,
    'if (answer.status !== 200) ',
    'const to = one(answer.headers.location);\n  if (answer.status >= 300 && answer.status < 400 && to !== undefined)\n    return Buffer.from(await (await fetch(new URL(to, asked.url), { headers: pageHeaders(key, false) })).arrayBuffer());\n  if (answer.status !== 200) throw await refusal(shared, asked, answer);',
    ['test/source/status.test.ts', 'test/source/key.test.ts'],
  ),
  mutant(
    'a 206 is a page',
    FETCH,
    'if (answer.status !== 200) ',
    'if (answer.status !== 200 && answer.status !== 206) ',
    ['test/source/status.test.ts'],
  ),
  mutant(
    'a page has no deadline',
    'src/source/exchange.ts',
    "deadline.addEventListener('abort', onDeadline);",
    'void onDeadline;',
    ['test/source/connection.test.ts', 'test/source/waits.test.ts', 'test/source/body.test.ts'],
  ),
  mutant(
    'Retry-After is no floor',
    'src/source/retry.ts',
    'return Math.ceil(wait.floorMs) + Math.floor(wait.random * range);',
    'return Math.floor(wait.random * range);',
    ['test/source/retry.test.ts'],
  ),
  mutant(
    'attempts have no end',
    'src/source/retry.ts',
    'if (!mayTry || left <= 0 || so.floorMs > left) return null;',
    'if (left <= 0 || so.floorMs > left) return null;',
    ['test/source/retry.test.ts'],
  ),
  mutant(
    'a 429 uses up an attempt',
    'src/source/retry.ts',
    'so.failures - so.refusals < policy.attempts',
    'so.failures < policy.attempts',
    ['test/source/retry.test.ts', 'test/source/waits.test.ts'],
  ),
  mutant(
    'a refusal holds nobody but the page that was refused',
    LIMITER,
    'if (retryAfterMs !== null) this.#hold.extend(retryAfterMs, now);\n    else if (now >= this.#hold.until) {',
    'if (retryAfterMs === null && now >= this.#hold.until) {',
    ['test/source/limiter.test.ts', 'test/source/waits.test.ts'],
  ),
  mutant(
    'refusals set no pace',
    LIMITER,
    'if (this.#pace !== null || again || burst)',
    'if (this.#pace !== null && again && burst)',
    ['test/source/finding-the-limit.test.ts'],
  ),
  mutant(
    'a quota is believed although others use it',
    LIMITER,
    'this.#pace === null ? this.#quota.opensAt(now) : Number.NEGATIVE_INFINITY',
    'this.#quota.opensAt(now)',
    ['test/source/finding-the-limit.test.ts'],
  ),
  mutant(
    'two workers may take the same slots of a rate',
    'src/store/rates.ts',
    'then r.next_slot else clock_timestamp() end',
    'then clock_timestamp() else clock_timestamp() end',
    ['test/store/rates.test.ts'],
  ),
  mutant(
    'a refused key is tried again and again',
    'src/source/status.ts',
    'return new RefusedError(',
    'return new TransientError(',
    ['test/source/status.test.ts', 'test/source/key.test.ts'],
  ),
  mutant(
    'any certificate is good',
    'src/source/dispatcher.ts',
    'const tls = { ...checkedTls(options.tls), rejectUnauthorized: true };',
    'const tls = { ...checkedTls(options.tls), rejectUnauthorized: false };',
    ['test/source/tls.test.ts'],
  ),
  mutant(
    'the key is shown in an excerpt of an answer',
    'src/source/keyring.ts',
    'secrets: () => [...known],',
    'secrets: () => [],',
    ['test/source/key.test.ts', 'test/source/status.test.ts', 'test/source/excerpt.test.ts'],
  ),
  mutant(
    'a space in a date is a plus',
    'src/source/request.ts',
    '    encoded += /[A-Za-z0-9._~-]/.test(character)\n',
    "    if (character === ' ') { encoded += '+'; continue; }\n    encoded += /[A-Za-z0-9._~-]/.test(character)\n",
    ['test/source/request.test.ts'],
  ),
];
