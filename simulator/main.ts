/** The command `simulator`: reads its flags, starts, says where it listens, and stops when asked to. */
import type { DatasetReport } from './dataset.ts';
import { readFlags } from './flags.ts';
import { SimulatorInputError } from './input-error.ts';
import { startSimulator } from './simulator.ts';

try {
  const read = readFlags(process.argv.slice(2), process.env);
  if ('help' in read) {
    process.stdout.write(read.help);
  } else {
    const simulator = await startSimulator(read.options);
    for (const report of simulator.datasets) process.stderr.write(`${found(report)}\n`);
    const stop = () => void simulator.close();
    process.once('SIGTERM', stop);
    process.once('SIGINT', stop);
    process.stdout.write(`${JSON.stringify({ listening: simulator.url, pid: process.pid })}\n`);
  }
} catch (error) {
  if (!(error instanceof SimulatorInputError)) throw error;
  process.stderr.write(`simulator: ${error.message}\n`);
  process.exitCode = 2;
}

function found(report: DatasetReport): string {
  const { file, records, bytes, days, firstDay, lastDay, withoutTime } = report;
  const megabytes = (bytes / 1e6).toFixed(1);
  const span = days === 0 ? 'no days' : `${days} days from ${firstDay} to ${lastDay} (UTC)`;
  const timeless =
    withoutTime === 0
      ? 'all have a time of their own'
      : `${withoutTime} without a time of their own took that of the record before them`;
  return `${file}: ${records} records (${megabytes} MB), ${span}; ${timeless}`;
}
