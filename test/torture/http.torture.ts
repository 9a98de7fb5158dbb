import { http } from './cases/http.ts';
import { torture } from './families.ts';

torture('http', http);
