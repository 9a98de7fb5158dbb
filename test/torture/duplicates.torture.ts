import { duplicates } from './cases/duplicates.ts';
import { torture } from './families.ts';

torture('duplicates', duplicates);
