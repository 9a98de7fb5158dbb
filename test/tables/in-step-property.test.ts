/** A record table is equal to the view whenever it says that it is in step: through kills, two workers, days that are published anew, and changed definitions. */
import { tablesStayInStep } from './random-table-work.ts';

tablesStayInStep(4);
