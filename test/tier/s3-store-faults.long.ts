/** What `s3-store-faults` has no time for: many random histories on a bad way. */
import { randomHistoriesOnABadWay } from './bad-way.ts';

randomHistoriesOnABadWay(200);
