/** The machine that measured, in words. */
import { cpus, release, totalmem, type } from 'node:os';

/** Processor, cores, memory, system and Node, in one line. */
export function describeMachine(): string {
  const [first] = cpus();
  const gb = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} × ${first?.model.trim() ?? 'unknown processor'}, ${gb} GB of memory, ${type()} ${release()}, Node.js ${process.version}`;
}
