/** Loaded before the program (`node --import`): tells on file descriptor 3, when it ends, what the process used. */
import { readFileSync, writeSync } from 'node:fs';

/**
 * The most memory that this program ever held, in KiB. Where there is no /proc, what getrusage(2) tells, which counts what the
 * process that started it held at that moment, too: a process begins as a copy of it.
 */
function peakKib(): number {
  try {
    const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
    if (kib !== undefined) return Number(kib);
  } catch {
    // Not Linux.
  }
  return process.resourceUsage().maxRSS;
}

process.on('exit', () =>
  writeSync(3, JSON.stringify({ ...process.resourceUsage(), maxRSS: peakKib() })),
);
