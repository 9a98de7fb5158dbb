/** Two days and the cut between them, however the source treats the edge and changes: each record as often as it has it. */
import { cutsHold } from './random-cuts.ts';

cutsHold(3);
