import { stuck } from './cases/stuck.ts';
import { torture } from './families.ts';

torture('stuck', stuck);
