/** The same as `kept-property`, through many histories. */
import { allIsKept } from './random-walks.ts';

allIsKept(60);
