/** A refusal is an answer that tells a client of the served archive what is wrong with its request. */
import { DaywalkError } from '../errors.ts';

export class Refusal extends DaywalkError {
  /** The HTTP status. */
  readonly status: number;
  /** More for programs, beside the message. */
  readonly more: Readonly<Record<string, unknown>>;
  constructor(
    status: number,
    message: string,
    details: { readonly hint?: string; readonly more?: Readonly<Record<string, unknown>> } = {},
  ) {
    super(message, details.hint === undefined ? {} : { hint: details.hint });
    this.status = status;
    this.more = details.more ?? {};
  }
}
