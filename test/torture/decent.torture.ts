import { decent } from './cases/decent.ts';
import { torture } from './families.ts';

torture('decent', decent);
