/** A refusal tells a client of the served archive what is wrong with its request. */
import { DaywalkError } from '../errors.ts';

export class Refusal extends DaywalkError {
  readonly status: number;
  /** More for programs, beside the message. */
  readonly more: Readonly<Record<string, unknown>>;
  constructor(status: number, message: string, hint?: string, more: Refusal['more'] = {}) {
    super(message, { hint });
    this.status = status;
    this.more = more;
  }
}
