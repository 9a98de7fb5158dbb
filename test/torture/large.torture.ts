import { large } from './cases/large.ts';
import { torture } from './families.ts';

torture('large', large);
