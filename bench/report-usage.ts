/** Loaded before the program (`node --import`): tells on file descriptor 3, when it ends, what the process used. */
import { writeSync } from 'node:fs';

process.on('exit', () => writeSync(3, JSON.stringify(process.resourceUsage())));
