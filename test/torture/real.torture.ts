import { test } from 'vitest';
import { real } from './cases/real.ts';
import { torture } from './families.ts';

if (real.length === 0) test.skip('real events: the file is not there');
else torture('real', real);
