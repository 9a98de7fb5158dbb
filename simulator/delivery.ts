/** Puts an answer on the wire, whole or spoiled by a fault. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as timer } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip as gzipCallback } from 'node:zlib';
import type { Fault } from './faults.ts';
import type { Answer } from './page-answer.ts';
import type { Switches } from './switches.ts';

const gzip = promisify(gzipCallback);

/** Bodies smaller than this are sent as they are, except where gzip is forced: no server packs ten bytes. */
const WORTH_PACKING = 256;

/** Waits; returns at once when the signal is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0 || signal.aborted) return;
  await timer(ms, undefined, { signal }).catch(() => undefined);
}

/** Resolves when the signal is aborted: the client went away, or the simulator stops. */
async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) =>
    signal.addEventListener('abort', () => resolve(), { once: true }),
  );
}

/** Whether a fault leaves the request without any byte of an answer. */
export function givesNoAnswer(fault: Fault): boolean {
  return fault.kind === 'stall' || fault.kind === 'reset' || fault.kind === 'hang-up';
}

/** Commits such a fault; resolves when the connection is gone. */
export async function giveNoAnswer(
  fault: Fault,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  if (fault.kind === 'reset') response.socket?.resetAndDestroy();
  if (fault.kind === 'hang-up') response.socket?.end();
  await untilAborted(signal);
}

/** An answer's bytes after content coding, spoiled where the fault is one of the body. */
export async function encode(
  answer: Answer,
  fault: Fault | undefined,
  request: IncomingMessage,
  gzipSwitch: Switches['gzip'],
): Promise<Answer> {
  const headers: Record<string, string> = { ...answer.headers, vary: 'accept-encoding' };
  let body = fault?.kind === 'wrong-json' ? spoilJson(answer.body) : answer.body;
  const truncatesGzip = fault?.kind === 'truncate-gzip';
  if (truncatesGzip || packs(gzipSwitch, request, body)) {
    // The fastest level: the simulator must not be what a measured client waits for.
    body = await gzip(body, { level: 1 });
    headers['content-encoding'] = 'gzip';
  }
  if (fault?.kind === 'false-gzip') headers['content-encoding'] = 'gzip';
  if (truncatesGzip) {
    body = body.subarray(0, Math.max(0, body.length - (fault.bytes ?? body.length >> 1)));
  }
  if (fault?.kind === 'truncate') {
    body = body.subarray(0, Math.floor(body.length * (fault.keep ?? 0.5)));
  }
  return { status: answer.status, headers, body };
}

/** Sends an encoded answer; resolves when all of it was handed to the socket, or nobody listens any more. */
export async function send(
  { body, status, headers }: Answer,
  fault: Fault | undefined,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return;
  const half = body.subarray(0, body.length >> 1);
  const framed = { ...headers, 'content-length': String(body.length) };
  const { socket } = response;
  switch (fault?.kind) {
    case 'stall-body':
      response.writeHead(status, framed).write(half);
      return untilAborted(signal);
    case 'reset-body':
      response.writeHead(status, framed);
      // Reset only when the half has left: a reset throws away what is still queued here.
      response.write(half, () => socket?.resetAndDestroy());
      return untilAborted(signal);
    case 'wrong-length':
      framed['content-length'] = String(Math.max(0, body.length + fault.by));
      response.writeHead(status, framed);
      await ended(response, body, signal);
      // Neither side can tell where a next answer would begin.
      socket?.end();
      return;
    case 'cut-chunked':
      response.writeHead(status, headers);
      response.write(half, () => socket?.end());
      return untilAborted(signal);
    case 'cut-close':
      response.useChunkedEncodingByDefault = false;
      response.writeHead(status, { ...headers, connection: 'close' });
      return ended(response, half, signal);
    case 'drip':
      response.writeHead(status, framed);
      return drip(body, fault.bytes, fault.ms, response, signal);
    default:
      response.writeHead(status, framed);
      return ended(response, body, signal);
  }
}

async function drip(
  body: Buffer,
  bytes: number,
  ms: number,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  for (let sent = 0; sent < body.length && !signal.aborted; sent += bytes) {
    response.write(body.subarray(sent, sent + bytes));
    await pause(ms, signal);
  }
  response.end();
}

/** Ends the response with these bytes and waits until they are handed over. */
async function ended(response: ServerResponse, body: Buffer, signal: AbortSignal): Promise<void> {
  const finished = new Promise<void>((resolve) => response.end(body, () => resolve()));
  await Promise.race([finished, untilAborted(signal)]);
}

function packs(gzipSwitch: Switches['gzip'], request: IncomingMessage, body: Buffer): boolean {
  if (gzipSwitch === 'always') return true;
  if (gzipSwitch === 'never' || body.length < WORTH_PACKING) return false;
  return String(request.headers['accept-encoding'] ?? '')
    .split(',')
    .some((coding) => {
      const [name = '', quality = ''] = coding.split(';').map((part) => part.trim());
      return /^(gzip|\*)$/i.test(name) && !/^q=0(\.0*)?$/i.test(quality);
    });
}

/** A comma too many before the last bracket of the body. */
function spoilJson(body: Buffer): Buffer {
  return Buffer.concat([body.subarray(0, -1), Buffer.from(','), body.subarray(-1)]);
}
