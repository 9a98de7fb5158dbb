import { paging } from './cases/paging.ts';
import { torture } from './families.ts';

torture('paging', paging);
