/** The same as `in-step-property`, through many histories. */
import { tablesStayInStep } from './random-table-work.ts';

tablesStayInStep(Number(process.env.TABLES_RUNS ?? 60));
