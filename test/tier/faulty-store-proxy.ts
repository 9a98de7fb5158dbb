/** An HTTP proxy in front of an object store that does to the next requests what networks, proxies and stores do. */
import { once } from 'node:events';
import { request as ask, createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

interface Forwarded {
  readonly status: number;
  readonly headers: Record<string, string | readonly string[] | undefined>;
  readonly body: Buffer;
}

/** A request that has come, and the way to the store. */
export interface Passing {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The whole of its body. */
  body(): Promise<Buffer>;
  /** Sends it on, with this body. */
  forward(body: Buffer): Promise<Forwarded>;
  /** Sends on so many of its bytes and no more. */
  forwardCut(body: Buffer, bytes: number): Promise<void>;
}

export type Fault = (passing: Passing) => Promise<void>;

export interface FaultyStoreProxy {
  readonly url: string;
  /** Method and path of each request. */
  readonly asked: readonly string[];
  /** What happens to the next requests, one each; those behind them pass. */
  next(...faults: readonly Fault[]): void;
  /** What happens to all further ones. */
  always(fault: Fault): void;
}

/** @param target the URL of the store; the Host header stays, so that signatures do. */
export async function startFaultyStoreProxy(target: string): Promise<FaultyStoreProxy> {
  const asked: string[] = [];
  let faults: readonly Fault[] = [];
  let usual: Fault = pass;
  const server = createServer(async (request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const [fault = usual, ...rest] = faults;
    faults = rest;
    await fault(passing(target, request, response)).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    next(...more) {
      faults = [...faults, ...more];
    },
    always(fault) {
      usual = fault;
    },
  };
}

function passing(target: string, request: IncomingMessage, response: ServerResponse): Passing {
  const begin = (length: number) => {
    const { hostname, port } = new URL(target);
    const { method, url } = request;
    const own = method === 'PUT' ? { 'content-length': String(length) } : {};
    const headers = { ...request.headers, ...own };
    return ask({ host: hostname, port, method, path: url, headers, agent: false });
  };
  return {
    request,
    response,
    async body() {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      return Buffer.concat(parts);
    },
    async forward(body) {
      const upstream = begin(body.length);
      upstream.end(body);
      const [answer] = (await once(upstream, 'response')) as [IncomingMessage];
      const parts: Buffer[] = [];
      for await (const part of answer) parts.push(part as Buffer);
      return {
        status: answer.statusCode ?? 0,
        headers: answer.headers,
        body: Buffer.concat(parts),
      };
    },
    async forwardCut(body, bytes) {
      const upstream = begin(body.length);
      upstream.on('error', () => {});
      await new Promise((resolve) => upstream.write(body.subarray(0, bytes), resolve));
      upstream.destroy();
      await once(upstream, 'close');
    },
  };
}

function answerWith(response: ServerResponse, { status, headers, body }: Forwarded): void {
  response.writeHead(status, headers as Record<string, string>);
  response.end(body);
}

const half = (body: Buffer): number => Math.floor(body.length / 2);

/** Nothing. */
export const pass: Fault = async ({ response, body, forward }) => {
  answerWith(response, await forward(await body()));
};

/** The connection ends in the middle of the request. */
export const cutRequest: Fault = async ({ response, body, forwardCut }) => {
  const whole = await body();
  await forwardCut(whole, half(whole));
  response.destroy();
};

/** Half of the body arrives, as if it were all. */
export const shortRequest: Fault = async ({ response, body, forward }) => {
  const whole = await body();
  answerWith(response, await forward(whole.subarray(0, half(whole))));
};

/** A bit of the body is another one when it arrives. */
export const flippedRequest: Fault = async ({ response, body, forward }) => {
  answerWith(response, await forward(flipped(await body())));
};

/** The request is done, and its answer lost. */
export const lostAnswer: Fault = async ({ response, body, forward }) => {
  await forward(await body());
  response.destroy();
};

/** The request is done twice; the second answer comes. */
export const twice: Fault = async ({ response, body, forward }) => {
  const whole = await body();
  await forward(whole);
  answerWith(response, await forward(whole));
};

/** The connection ends in the middle of the answer's body. */
export const cutAnswer: Fault = async ({ response, body, forward }) => {
  const answer = await forward(await body());
  response.writeHead(answer.status, answer.headers as Record<string, string>);
  response.write(answer.body.subarray(0, half(answer.body)), () => response.destroy());
};

/** Half of the answer's body comes, as if it were all. */
export const shortAnswer: Fault = async ({ response, body, forward }) => {
  const answer = await forward(await body());
  const part = answer.body.subarray(0, half(answer.body));
  const headers = { ...answer.headers, 'content-length': String(part.length) };
  answerWith(response, { ...answer, headers, body: part });
};

/** A bit of the answer's body is another one. */
export const flippedAnswer: Fault = async ({ response, body, forward }) => {
  const answer = await forward(await body());
  answerWith(response, { ...answer, body: flipped(answer.body) });
};

/** Bodies come without their lengths. */
export const chunkedAnswer: Fault = async ({ response, body, forward }) => {
  const { headers, ...answer } = await forward(await body());
  const { 'content-length': _, ...rest } = headers;
  answerWith(response, { ...answer, headers: { ...rest, 'transfer-encoding': 'chunked' } });
};

function flipped(bytes: Buffer): Buffer {
  const other = Buffer.from(bytes);
  other[half(bytes)] = (other[half(bytes)] ?? 0) ^ 1;
  return other;
}

/** The range that was asked for is not looked at. */
export const wholeAnswer: Fault = async ({ request, response, body, forward }) => {
  delete request.headers.range;
  answerWith(response, await forward(await body()));
};

/** Answers by itself, without asking the store; `early`: before the body has come. */
export function answers(
  status: number,
  text = '',
  headers: Readonly<Record<string, string>> = {},
  { early = false } = {},
): Fault {
  return async ({ response, body }) => {
    if (!early) await body();
    const length = String(Buffer.byteLength(text));
    answerWith(response, {
      status,
      headers: { 'content-length': length, ...(early ? { connection: 'close' } : {}), ...headers },
      body: Buffer.from(response.req.method === 'HEAD' ? '' : text),
    });
  };
}

/** Answers with an error as S3 tells it. */
export const answersCode = (
  status: number,
  code: string,
  headers: Readonly<Record<string, string>> = {},
): Fault =>
  answers(status, `<Error><Code>${code}</Code><Message>It is ${code}.</Message></Error>`, headers);

/** Never answers. @param onAsked called when the request has come. */
export const silent =
  (onAsked: () => void): Fault =>
  async ({ body }) => {
    await body();
    onAsked();
    await new Promise(() => {});
  };
