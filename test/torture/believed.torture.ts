import { believed } from './cases/believed.ts';
import { torture } from './families.ts';

torture('believed', believed);
