/** Mutants of days that are pruned, or move to the tier and come back: what keeps each record in one place. */
import { type Mutant, mutant } from './mutant.ts';

const MOVING = ['test/tier/moving.test.ts'];
const PRUNINGS = ['test/retention/prunings.test.ts'];

export const MOVED_MUTANTS: readonly Mutant[] = [
  mutant(
    'what a day that moved shows is shown by its neighbour, too',
    'migrations/0003_publishing.sql',
    'where t.stream_id = me.stream_id and t.day in (me.midnight, me.midnight + 1)) then return; end if;',
    'where false) then return; end if;',
    MOVING,
  ),
  mutant(
    'an object that is not what was written is believed',
    'src/tier/moved-object.ts',
    'if (found !== null && areSame(written, found)) return { key, ...written };',
    'if (found !== null) return { key, ...written };',
    MOVING,
  ),
  mutant(
    'a day that came back stays in the table of events',
    'src/tier/restore.ts',
    'await settleDay(parts, moved, signal);',
    '',
    MOVING,
  ),
  mutant(
    'pages that are not those of the object are shown',
    'src/tier/restore.ts',
    "if (hash.digest('hex') !== sha256) throw wrong('is not what was written');",
    '',
    MOVING,
  ),
  mutant(
    'what a pruned day showed in a newer version stays hidden elsewhere',
    'migrations/0006_pruning.sql',
    "if replaced <> '{}' then",
    'if false then',
    PRUNINGS,
  ),
];
