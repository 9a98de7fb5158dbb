/** Answers of the status server, and the headers that every one of them carries. */
import type { Html } from './html.ts';

/** An answer. */
export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  /** More headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Nothing from elsewhere, nothing inline, never in a frame, and nothing kept: what is shown is about people's events.
 * https://cheatsheetseries.owasp.org/cheatsheets/HTTP_Headers_Cheat_Sheet.html
 */
export const STRICT_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** A page. */
export function page(body: Html, status = 200): Answer {
  return { status, type: 'text/html; charset=utf-8', body: body.text };
}

/** Some words. */
export function words(status: number, text: string, headers?: Answer['headers']): Answer {
  const answer = { status, type: 'text/plain; charset=utf-8', body: `${text}\n` };
  return headers === undefined ? answer : { ...answer, headers };
}

/** A document for programs. */
export function json(status: number, value: unknown): Answer {
  return {
    status,
    type: 'application/json; charset=utf-8',
    body: `${JSON.stringify(value, null, 2)}\n`,
  };
}
