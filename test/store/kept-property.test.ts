/** Whatever a source shows in one walk after another: all that was ever proven stays shown, and what is gone is told. */
import { allIsKept } from './random-walks.ts';

allIsKept(4);
