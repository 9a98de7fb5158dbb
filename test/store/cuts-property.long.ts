/** The same as `cuts-property`, through many histories. */
import { cutsHold } from './random-cuts.ts';

cutsHold(60);
