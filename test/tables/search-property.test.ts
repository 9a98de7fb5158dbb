/** Whatever records are shown, and whichever filters there are: a search finds exactly those that hold the value. */
import { searchFindsAll } from './random-searches.ts';

searchFindsAll(6);
