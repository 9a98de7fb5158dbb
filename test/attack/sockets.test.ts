/** Visitors of the status page and of the served archive who hold connections and answers, and never read, ask or go. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { beforeAll, expect, onTestFinished } from 'vitest';
import { until } from '../support/condition.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { ARCHIVE_DAY, ARCHIVE_KEY, serveStored, storeDays } from '../support/served-archive.ts';
import { ask, serveStatus } from '../support/status-scene.ts';
import { clear } from '../support/store.ts';
import { attack } from './attacking.ts';

/** Connections of each try: three times as many as there may be. */
const MANY = 192;
let server: TestDatabase;
beforeAll(async () => {
  server = await createTestDatabase();
});

const HEAD = 'Host: localhost\r\n';
/** What a visitor sends first, and then no more. */
const BEGINNINGS: Readonly<Record<string, string | Buffer>> = {
  nothing: '',
  'half of a line': 'GET /',
  'half of a head': `GET /livez HTTP/1.1\r\n${HEAD}`,
  'a whole request, and stays': `GET /livez HTTP/1.1\r\n${HEAD}\r\n`,
  'many requests at once': `GET /livez HTTP/1.1\r\n${HEAD}\r\n`.repeat(500),
  'a body that never comes': `POST / HTTP/1.1\r\n${HEAD}Content-Length: 1000000\r\n\r\n`,
  'chunks that never end': `POST / HTTP/1.1\r\n${HEAD}Transfer-Encoding: chunked\r\n\r\n5\r\n`,
  'a hello of TLS': Buffer.from('16030100a5010000a10303', 'hex'),
  'an upgrade': `GET / HTTP/1.1\r\n${HEAD}Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
  'a tunnel': 'CONNECT localhost:5432 HTTP/1.1\r\n\r\n',
  'a long head': `GET / HTTP/1.1\r\n${HEAD}${'X: y\r\n'.repeat(5_000)}`,
  'two lengths': `POST / HTTP/1.1\r\n${HEAD}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`,
};

async function visitor(url: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

attack(
  'connections that are held open on both servers: machines have their answer',
  async () => {
    const status = await serveStatus(server.url);
    onTestFinished(() => status.close());
    const archive = await serveStored(server);
    const servers = [
      [status.url, '/livez', 200],
      [archive.url, '/api/events', 401],
    ] as const;
    return servers.flatMap(([url, path, expected]) =>
      Object.entries(BEGINNINGS).map(([what, text]) => ({
        name: `${what}, on ${path}`,
        count: MANY,
        run: async () => {
          const sockets: Socket[] = [];
          for (let count = 0; count < MANY; count++) {
            const socket = await visitor(url);
            socket.write(text);
            sockets.push(socket);
          }
          expect((await ask(url, path)).status).toBe(expected);
          for (const socket of sockets) socket.destroy();
        },
      })),
    );
  },
  4,
);

attack(
  'answers of the archive that nobody reads: their places and memory come back',
  async () => {
    await clear(server);
    const log = 'x'.repeat(4_000);
    // More than the sockets of both sides take up.
    const page = Array.from({ length: 1_000 }, (_, id) => ({ id, log }));
    await storeDays(server, { [ARCHIVE_DAY]: [page, page, page, page] });
    const { url, pass, total } = await serveStored(server);
    const query = `fromDate=${ARCHIVE_DAY}%2000:00:00&toDate=${ARCHIVE_DAY}%2023:59:59&length=10000`;
    const request = `GET /api/events?${query} HTTP/1.1\r\n${HEAD}X-API-Key: ${ARCHIVE_KEY}\r\n\r\n`;
    return Array.from({ length: 5 }, (_, round) => ({
      name: `round ${round}`,
      count: 20,
      run: async () => {
        const sockets: Socket[] = [];
        for (let count = 0; count < 20; count++) {
          const socket = (await visitor(url)).pause();
          socket.write(request);
          sockets.push(socket);
        }
        const busy = async () => typeof (await total('')) === 'object';
        await until('all places to be taken', busy);
        const closed = sockets.map((socket) => once(socket, 'close'));
        pass();
        for (const socket of sockets) socket.resume();
        await until('a place', async () => !(await busy()));
        for (const socket of sockets) socket.destroy();
        await Promise.all(closed);
      },
    }));
  },
  1,
);
