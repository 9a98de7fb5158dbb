import { kept } from './cases/kept.ts';
import { torture } from './families.ts';

torture('kept', kept);
