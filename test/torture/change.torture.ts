import { change } from './cases/change.ts';
import { torture } from './families.ts';

torture('change', change);
