/** The answers of faults that stand in for the API: error statuses, redirects, login pages, bodies that are no page. */
import type { Fault, RetryAfter } from './faults.ts';
import type { HookAnswer } from './hook.ts';
import { type Answer, emptyAnswer, errorAnswer } from './page-answer.ts';

const LOGIN_PAGE = `<!DOCTYPE html>
<html><head><title>Sign in</title></head>
<body><form action="/login" method="post"><input name="user"><input name="password" type="password"></form></body></html>
`;

const STATUS_TEXTS: Readonly<Record<number, string>> = {
  401: 'the key was refused',
  403: 'this key may not read events',
  404: 'no such resource',
  413: 'the page is too large',
  429: 'too many requests',
  500: 'internal error',
  502: 'bad gateway',
  503: 'the service is not available',
  504: 'the backend did not answer in time',
};

/** The answer of a fault; undefined when the fault spoils the API's own answer, or gives none. */
export function answerOfFault(fault: Fault): Answer | undefined {
  switch (fault.kind) {
    case 'status': {
      const answer = errorAnswer(fault.status, STATUS_TEXTS[fault.status] ?? 'refused');
      return { ...answer, headers: { ...answer.headers, ...retryAfterHeader(fault.retryAfter) } };
    }
    case 'redirect':
      return emptyAnswer(fault.status ?? 302, { location: fault.location });
    case 'html':
      return {
        status: 200,
        headers: { 'content-type': 'text/html; charset=utf-8' },
        body: Buffer.from(LOGIN_PAGE),
      };
    case 'error-object':
      return errorAnswer(200, 'search backend unavailable');
    case 'empty-body':
      return emptyAnswer(200, { 'content-type': 'application/json' });
    case 'body':
      return answerOfHook({ status: fault.status ?? 200, body: fault.body });
    default:
      return undefined;
  }
}

/** An answer written by hand, made complete. */
export function answerOfHook(answer: HookAnswer): Answer {
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  for (const [name, value] of Object.entries(answer.headers ?? {})) {
    headers[name.toLowerCase()] = value;
  }
  return { status: answer.status ?? 200, headers, body: Buffer.from(answer.body ?? '') };
}

/** The header for a `RetryAfter`, or no header. */
export function retryAfterHeader(retryAfter: RetryAfter | undefined): Record<string, string> {
  if (retryAfter === undefined) return {};
  const ahead = /^date(?:\+(\d+))?$/.exec(String(retryAfter));
  if (ahead === null) return { 'retry-after': String(retryAfter) };
  const date = new Date(Date.now() + Number(ahead[1] ?? 1) * 1000);
  return { 'retry-after': date.toUTCString() };
}
