/** Reads a fault from the command line: `status:status=503,rate=0.1`. */
import { FAULT_PARAMETERS, type Fault } from './faults.ts';
import { SimulatorInputError } from './input-error.ts';

const TEXTS = ['location', 'body', 'retryAfter'];

/** @throws SimulatorInputError when the kind is unknown, or a value is not `name=value`. */
export function readFault(text: string, flag: string): Fault {
  const colon = text.indexOf(':');
  const kind = colon < 0 ? text : text.slice(0, colon);
  if (!Object.hasOwn(FAULT_PARAMETERS, kind)) {
    const kinds = Object.keys(FAULT_PARAMETERS).join(', ');
    throw new SimulatorInputError(`--${flag}: no fault is called "${kind}"; there are ${kinds}`);
  }
  const fault: Record<string, unknown> = { kind };
  for (const part of colon < 0 ? [] : text.slice(colon + 1).split(',')) {
    const equals = part.indexOf('=');
    if (equals < 1) throw new SimulatorInputError(`--${flag}: "${part}" is not NAME=VALUE`);
    const name = part.slice(0, equals);
    fault[name] = parameterOf(name, part.slice(equals + 1), flag);
  }
  return fault as unknown as Fault;
}

function parameterOf(name: string, value: string, flag: string): unknown {
  if (TEXTS.includes(name)) return value;
  const numbers = value.split('+').map(Number);
  if (value === '' || numbers.some(Number.isNaN)) {
    throw new SimulatorInputError(`--${flag}: ${name} takes a number, not "${value}"`);
  }
  return name === 'at' ? numbers : numbers[0];
}
