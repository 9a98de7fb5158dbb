/** The redactor of this process: whatever it writes for people or into tables goes through it. */
import { openRedactor } from '../redactor.ts';

export const redactor = openRedactor();
