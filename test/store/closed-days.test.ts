/** Two places know when a day is closed, the planner and the coverage view: they agree in every zone, at every instant (I8). */
import { plannerAndViewAgree } from './closed-instants.ts';

plannerAndViewAgree({ runs: 6, step: 7 });
