/** The log: no secret in any spelling, no row data, no control characters, and no failure of its own. */
import { PassThrough, Writable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SettingsError } from '../src/errors.ts';
import { createLogger, type LogFields, type LogOptions } from '../src/log.ts';
import { openRedactor } from '../src/redactor.ts';

/** What a log writes while `use` uses it. */
async function written(
  options: Partial<LogOptions>,
  use: (log: Awaited<ReturnType<typeof createLogger>>) => void,
): Promise<string> {
  const destination = new PassThrough();
  const chunks: Buffer[] = [];
  destination.on('data', (chunk: Buffer) => chunks.push(chunk));
  const base = {
    level: 'info',
    format: 'json',
    redact: (text: string) => text,
    isTerminal: false,
  } as const;
  const log = await createLogger({ ...base, ...options, destination });
  use(log);
  await log.flush();
  return Buffer.concat(chunks).toString();
}

async function writtenLine(
  options: Partial<LogOptions>,
  use: (log: Awaited<ReturnType<typeof createLogger>>) => void,
): Promise<Record<string, unknown>> {
  return JSON.parse(await written(options, use));
}

describe('lines', () => {
  it('are JSON with the level as a word, the time as ISO text and the message in msg', async () => {
    const text = await written({}, (log) => log.info({ stream: 'events', pages: 3 }, 'done'));
    expect(text.endsWith('\n')).toBe(true);
    const line = JSON.parse(text);
    expect(line).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      stream: 'events',
      pages: 3,
      msg: 'done',
    });
  });

  it('below the level are not written', async () => {
    expect(await written({ level: 'warn' }, (log) => log.info('quiet'))).toBe('');
    expect(await written({ level: 'silent' }, (log) => log.error('quiet'))).toBe('');
  });

  it('are pretty on a terminal when the format is auto, with colours only there', async () => {
    const onTerminal = await written({ format: 'auto', isTerminal: true }, (log) =>
      log.info('hello'),
    );
    expect(onTerminal).toContain('\u001b[32mINFO');
    expect(await written({ format: 'auto' }, (log) => log.info('hello'))).toMatch(/^\{.*\}\n$/);
    const pretty = await written({ format: 'pretty' }, (log) => log.info({ pages: 3 }, 'hello'));
    expect(pretty).toMatch(/^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\] INFO: hello \{"pages":3\}\n$/);
    const plain = await written({ format: 'auto', isTerminal: true, colour: false }, (log) =>
      log.info('hello'),
    );
    expect(plain).toMatch(/\] INFO: hello\n$/);
    expect(plain).not.toContain('\u001b');
  });

  it('show an error in the pretty form without its stack', async () => {
    const pretty = await written({ format: 'pretty' }, (log) =>
      log.error({ err: new SettingsError('no zone', { hint: 'Set one.' }) }, 'stopped'),
    );
    expect(pretty).toMatch(/\] ERROR: stopped: no zone \(Set one\.\)\n$/);
  });

  it('tell in that line what an error was caused by, unless it says so itself; at debug with the stack', async () => {
    const cause = new Error('disk full');
    const told = (message: string, level: 'info' | 'debug' = 'info') =>
      written({ format: 'pretty', level }, (log) =>
        log.warn({ err: new Error(message, { cause }), pages: 3 }, 'stopped'),
      );
    expect(await told('no room')).toMatch(/WARN: stopped: no room; disk full \{"pages":3\}\n$/);
    expect(await told('no room: disk full')).toMatch(/WARN: stopped: no room: disk full \{/);
    expect(await told('no room', 'debug')).toMatch(/\n\s+at /);
  });
});

describe('secrets (I10)', () => {
  const secret = 'pä ss"w\\o/rd%+1';
  const spelled = {
    plain: secret,
    json: JSON.stringify({ key: secret }),
    jsonTwice: JSON.stringify(JSON.stringify({ key: secret })),
    percent: `https://x/?k=${encodeURIComponent(secret)}`,
    lowerPercent: encodeURIComponent(secret).replace(/%../g, (hex) => hex.toLowerCase()),
    form: new URLSearchParams({ k: secret }).toString(),
    userinfo: Object.assign(new URL('http://h/'), { password: secret, username: 'u' }).href,
    unicode: Array.from(secret, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join(
      '',
    ),
  };

  it.each(Object.entries(spelled))('are struck out when spelled as %s', async (_, text) => {
    for (const format of ['json', 'pretty'] as const) {
      const out = await written({ redact: openRedactor([secret]).redact, format }, (log) =>
        log.error({ err: new Error(text), url: text, list: [{ [text]: text }] }, `failed: ${text}`),
      );
      expect(out).toContain('failed: ');
      expect(out.match(/\*\*\*/g)?.length).toBeGreaterThanOrEqual(5);
      expect(out).not.toMatch(/pä|p%C3|p%c3|w\\|rd%|u0070/);
    }
  });

  it('are struck out of fields and of numbers', async () => {
    const line = await writtenLine({ redact: openRedactor(['12345', 'key1']).redact }, (log) =>
      log.info({ key: 'a key1 b', port: 12345, other: 1.5 }, 'x'),
    );
    expect(line).toMatchObject({ key: 'a *** b', port: '***', other: 1.5 });
  });

  it('never break the line, whatever they are', async () => {
    const log = fc.string({ unit: 'binary', minLength: 4, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(log, fc.string({ unit: 'binary' }), async (secret, around) => {
        const text = `${around}${secret}${around}`;
        const out = await written({ redact: openRedactor([secret]).redact }, (l) =>
          l.info({ text }, text),
        );
        const line = JSON.parse(out);
        // Where the secret is a word of the line itself, its own key is struck too.
        if ('"level""time""text""msg"'.includes(secret)) return;
        expect(line.msg).not.toContain(secret);
        expect(line.text).toBe(line.msg);
      }),
      { numRuns: 200 },
    );
  });

  it('know a key that was read later', async () => {
    const redactor = openRedactor();
    const line = await writtenLine({ redact: redactor.redact }, (log) => {
      redactor.add('rotated-key');
      log.info('no right for rotated-key');
    });
    expect(line.msg).toBe('no right for ***');
  });
});

describe('errors', () => {
  const databaseError = (): Error =>
    Object.assign(new Error('duplicate key value'), {
      code: '23505',
      detail: 'Key (body)=(PRIVATE) already exists.',
      where: 'COPY pages, line 1: PRIVATE',
      parameters: ['PRIVATE'],
    });

  it.each<[string, LogFields]>([
    ['under err', { err: databaseError() }],
    ['under another name', { failure: databaseError() }],
    ['in a list', { failures: [databaseError()] }],
    ['as a cause', { err: new Error('outer', { cause: databaseError() }) }],
    ['deep inside', { a: { b: { c: { d: { e: { f: { g: databaseError() } } } } } } }],
  ])('do not tell row data, %s', async (_, fields) => {
    for (const level of ['info', 'trace'] as const) {
      expect(await written({ level }, (log) => log.error(fields, 'x'))).not.toContain('PRIVATE');
    }
  });

  it('are told as type, message, hint and code, with their causes', async () => {
    const err = new SettingsError('bad', { hint: 'Fix it.', cause: databaseError() });
    expect((await writtenLine({}, (log) => log.error({ err }, 'x'))).err).toEqual({
      type: 'SettingsError',
      message: 'bad',
      hint: 'Fix it.',
      cause: { type: 'Error', message: 'duplicate key value', code: '23505' },
    });
  });

  it('have a stack at debug only', async () => {
    const err = new Error('x');
    const use = (log: Awaited<ReturnType<typeof createLogger>>) => log.error({ err }, 'x');
    expect(await written({ level: 'info' }, use)).not.toContain('log.test.ts');
    expect(await written({ level: 'debug' }, use)).toContain('log.test.ts');
  });

  it('that only hold others are told by those', async () => {
    const err = new AggregateError([new Error('refused ::1'), new Error('refused 127.0.0.1')]);
    const line = await writtenLine({}, (log) => log.error({ err }, 'x'));
    expect(line.err).toMatchObject({ message: 'refused ::1; refused 127.0.0.1' });
  });

  it('do not loop when they are their own cause', async () => {
    const err = new Error('round');
    err.cause = err;
    expect(await written({}, (log) => log.error({ err }, 'x'))).toContain('round');
  });
});

describe('foreign text', () => {
  const foreign = 'a\u001b[2Jb\u009b31mc\u202ed\u0007e\nf\r\u2028g';

  it.each(['json', 'pretty'] as const)('cannot steer a terminal (%s)', async (format) => {
    const out = await written({ format, level: 'debug' }, (log) =>
      log.info({ foreign, [foreign]: 1, err: new Error(foreign) }, foreign),
    );
    expect(out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}\u2028]/u);
    if (format === 'json') expect(JSON.parse(out).msg).toBe(foreign);
    else expect(out.split('\n')[0]).toContain('\\u001b[2Jb\\u009b31mc\\u202ed\\u0007e\\u000af');
  });
});

describe('a destination that is gone', () => {
  it('does not throw into the walk, and flush ends', async () => {
    const destination = new Writable({
      write: (_chunk, _encoding, done) =>
        done(Object.assign(new Error('EPIPE'), { code: 'EPIPE' })),
    });
    const log = await createLogger({
      level: 'info',
      format: 'json',
      redact: (text) => text,
      isTerminal: false,
      destination,
    });
    for (let i = 0; i < 3; i += 1) log.info('x');
    await log.flush();
    log.info('after');
    await log.flush();
  });
});
