/** The same as `closed-days`, at many instants, in every zone that Node knows, and at every hour. */
import { plannerAndViewAgree } from './closed-instants.ts';

plannerAndViewAgree({ runs: Number(process.env.CLOSED_DAYS_RUNS ?? 100), step: 1 });
