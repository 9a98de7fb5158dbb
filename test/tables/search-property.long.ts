/** The same as `search-property`, in many stores. */
import { searchFindsAll } from './random-searches.ts';

searchFindsAll(Number(process.env.SEARCH_RUNS ?? 100));
