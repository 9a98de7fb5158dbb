/** The one error for what a person gave the simulator: an option, a flag or a file that cannot be used. */

/** Fix what the message names and start again; the command line answers it with exit code 2. */
export class SimulatorInputError extends Error {
  override readonly name = 'SimulatorInputError';
}
