import { body } from './cases/body.ts';
import { torture } from './families.ts';

torture('body', body);
