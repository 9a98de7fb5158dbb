import { time } from './cases/time.ts';
import { torture } from './families.ts';

torture('time', time);
