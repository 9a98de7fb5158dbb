/** The HTTP listener of all who serve: nobody keeps others out, by holding connections open, by not reading, or by asking a lot. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Answer, words } from '../src/answer.ts';
import { listen, type Work } from '../src/listener.ts';
import { silentLogger } from '../src/log.ts';
import { until } from './support/condition.ts';
import { handDeadlines } from './support/hand-deadlines.ts';
import { ask } from './support/status-scene.ts';

/** Serves `/now` at once, and `/work` by this work. */
async function serve(work: Work = async () => words(200, 'worked'), most = 2) {
  const deadlines = handDeadlines();
  const listener = await listen({
    name: 'the test',
    hint: 'none',
    address: { host: '127.0.0.1', port: 0 },
    longestUrl: 100,
    most,
    clock: deadlines.clock,
    log: silentLogger,
    route: ({ path }): Answer | Work => (path === '/now' ? words(200, 'now') : work),
    refuse: words,
  });
  onTestFinished(() => listener.close());
  const open = async (): Promise<Socket> => {
    const socket = connect(Number(new URL(listener.url).port), '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => {});
    await once(socket, 'connect');
    return socket;
  };
  return { ...listener, ...deadlines, open };
}

const REQUEST = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

describe('connections', () => {
  it('that idle make room, the oldest first', async () => {
    const { url, open } = await serve();
    const sockets: Socket[] = [];
    for (let count = 0; count < 64; count++) {
      const socket = await open();
      socket.write(REQUEST('/now'));
      await once(socket, 'data');
      sockets.push(socket);
    }
    const [oldest, ...others] = sockets;
    const closed = once(oldest as Socket, 'close');
    expect((await ask(url, '/now')).status).toBe(200);
    await closed;
    expect(others.filter(({ closed }) => closed)).toEqual([]);
  });

  it('that have never asked make room too', async () => {
    const { url, open } = await serve();
    for (let count = 0; count < 100; count++) await open();
    expect((await ask(url, '/now')).status).toBe(200);
  });

  it('whose answer is worked on are not closed for a new one', async () => {
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const { url, open } = await serve(async () => {
      await finished;
      return words(200, 'worked');
    });
    const asked = ask(url, '/work');
    for (let count = 0; count < 100; count++) await open();
    finish();
    expect(await asked).toMatchObject({ status: 200, body: 'worked\n' });
  });

  it('take one request at a time: answers that nobody reads cannot pile up', async () => {
    const { open } = await serve();
    const socket = await open();
    const closed = once(socket, 'close');
    socket.write(REQUEST('/now').repeat(1_000));
    let said = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    await closed;
    expect(said.match(/HTTP\/1\.1 200/g)?.length ?? 0).toBeLessThanOrEqual(1);
  });

  it('are closed when an answer has not been read in time, to the last byte', async () => {
    const large = { ...words(200, ''), body: 'x'.repeat(50_000_000) };
    const { open, pass, url } = await serve(async () => large, 1);
    const socket = await open();
    socket.pause();
    socket.write(REQUEST('/work'));
    // It holds the only place for as long as it does not read.
    await until('the place is taken', async () => (await ask(url, '/work')).status === 503);
    const closed = once(socket, 'close');
    pass();
    socket.resume();
    await closed;
    expect(socket.bytesRead).toBeLessThan(50_000_000);
    await until('the place is free', async () => (await ask(url, '/work')).status === 200);
  });
});

describe('work', () => {
  it('beyond the most is refused with a time to come again, what takes none is not', async () => {
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let working = 0;
    const { url, open } = await serve(async () => {
      working += 1;
      await finished;
      working -= 1;
      return words(200, 'worked');
    });
    const first = ask(url, '/work');
    const second = await open();
    second.write(REQUEST('/work'));
    await until('two that work', () => working === 2);
    // The work of one who went away is still work.
    second.destroy();
    await once(second, 'close');
    for (let count = 0; count < 5; count++)
      expect(await ask(url, '/work')).toMatchObject({
        status: 503,
        headers: { 'retry-after': '1' },
      });
    expect((await ask(url, '/now')).status).toBe(200);
    expect(working).toBe(2);
    finish();
    expect((await first).status).toBe(200);
    await until('room', async () => (await ask(url, '/work')).status === 200);
  });

  it('that fails is told as 500, and it goes on', async () => {
    const { url } = await serve(async () => {
      throw new Error('secret');
    });
    for (let count = 0; count < 5; count++) {
      const { status, body } = await ask(url, '/work');
      expect([status, body]).toEqual([500, 'Something went wrong; the log tells more.\n']);
    }
  });
});
