/** Mutants of days that are pruned, or move to the tier and come back: what keeps each record in one place. */
import { type Mutant, mutant } from './mutant.ts';

const MOVING = ['test/tier/moving.test.ts'];
const ROOMS = ['test/store/where-rooms-meet.test.ts'];
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
    'if (isDeepStrictEqual(written, found)) return { key, ...written };',
    'if (found !== null) return { key, ...written };',
    MOVING,
  ),
  mutant(
    'a day that came back stays in the table of events',
    'src/tier/restore.ts',
    'await settleDay(parts, moved);',
    '',
    MOVING,
  ),
  mutant(
    'pages that are not those of the object are shown',
    'src/tier/restore.ts',
    "if (!(await eachPage(store, pages, put, signal))) throw wrong('is not what was written');",
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
  mutant(
    'what a midnight added to a day that moved is added to the day before, too',
    'migrations/0003_publishing.sql',
    'and not exists (select from daywalk.tiered_days t where t.stream_id = cut.stream_id and t.day = cut.day)\n',
    '\n',
    MOVING,
  ),
  mutant(
    'a midnight that is not its own makes a pruned day unfinished',
    'migrations/0004_views.sql',
    "w.midnight is not null and side.day <> w.day\n           and not exists (select from daywalk.prunings g where g.stream_id = w.stream_id and g.day = side.day and g.what = 'day')) as u",
    'w.midnight is not null) as u',
    ROOMS,
  ),
  mutant(
    'what a midnight showed of a pruned day counts for the day before it',
    'migrations/0005_ledger.sql',
    " and k.day = d.day and k.shown <> 'no'), '{}')",
    " and k.shown <> 'no'), '{}')",
    ROOMS,
  ),
  mutant(
    'what a wrong id_path hid stays hidden where its day was away when that was mended',
    'migrations/0010_tier.sql',
    "if replaced <> '{}' then",
    'if false then',
    MOVING,
  ),
  mutant(
    'a day that is planned later shows what the file of the day beside it shows, too',
    'migrations/0003_publishing.sql',
    '|| array(select daywalk.hide_moved_twins(me.stream_id, me.day, at))',
    '',
    MOVING,
  ),
];
