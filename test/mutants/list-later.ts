/** Mutants of what is judged later: looks, known answers, retirement, and what is learned to be no part of a record. */
import { type Mutant, mutant } from './mutant.ts';

const KNOWN = ['test/walk/known.test.ts'];
const LATER = ['test/walk/later.test.ts'];
const LOOKS = ['test/walk/looks.test.ts'];
const OLD_DAYS = ['test/walk/old-days.test.ts'];
const LOOK = 'src/walk/look.ts';

export const LATER_MUTANTS: readonly Mutant[] = [
  mutant(
    'records that merely came later teach that what tells them apart is no part of them',
    'src/walk/volatile.ts',
    'return other.some((record) => all.has',
    'return other.every((record) => all.has',
    LATER,
  ),
  mutant(
    'a field that somebody set in all records of a day is no part of them',
    'src/walk/paging.ts',
    '!(await differsElsewhere(context, first, [stored, now], doubtful));',
    'false;',
    LATER,
  ),
  mutant(
    'a day that shows nothing is forgotten by its source though the one before it shows',
    LOOK,
    'if (before !== null && !before.retired &&',
    'if (before !== null && before.retired &&',
    LATER,
  ),
  mutant(
    'what a look found is forgotten when the walk behind it is interrupted',
    LOOK,
    '      await noteDifferent(database, window);',
    '      // Nothing is noted.',
    LOOKS,
  ),
  mutant(
    'a day that was forgotten is not looked at again',
    'src/store/windows.ts',
    'then daywalk.next_look(daywalk.closed_at(w.day, s.time_zone, s.settle), $4) end,',
    'then null end,',
    OLD_DAYS,
  ),
  mutant(
    'a proven day that its source has forgotten is walked again where somebody asks for it',
    'src/walk/due.ts',
    "(rewalk || state === 'failed') &&",
    "(rewalk && state === 'failed') &&",
    OLD_DAYS,
  ),
  mutant(
    'old days that are refused in every run stop the stream in every run',
    'src/walk/due.ts',
    'if (leased.failures > 0) return;',
    'if (leased.failures > 99) return;',
    OLD_DAYS,
  ),
  mutant(
    'values that somebody set in all records differ as scores do',
    'src/walk/paging.ts',
    '[stored, now, before, list].every((each) => varies(place, each))',
    '[stored, before].every((each) => varies(place, each))',
    LATER,
  ),
  mutant(
    'a look at a split day without a total closes it anew',
    LOOK,
    "if (!split.calibrated) return came > 0 || !holds ? null : 'it shows nothing any more';",
    "if (!split.calibrated) return 'its parts are looked at';",
    LOOKS,
  ),
  mutant(
    'a look at a cut compares one page with all',
    LOOK,
    'for (let start = 0; shown.length <= stored.length; ) {',
    'for (let start = 0; start === 0; ) {',
    LOOKS,
  ),
  mutant(
    'parts of another cut must add up to the total',
    LOOK,
    'if (sum <= total || knowledge.reach !== 1) return null;',
    'if (sum === total) return null;',
    LOOKS,
  ),
  mutant(
    'a total that leaves some out is found anew by each look',
    'src/walk/end.ts',
    'total < records && total !== walk.lastTotal',
    'total < records',
    LOOKS,
  ),
  mutant(
    'days are forgotten by their source without a known answer',
    LOOK,
    'if (!known && before?.sinceThatAge !== true) return false;',
    'if (!known) {}',
    KNOWN,
  ),
  mutant(
    'older days vouch for one that shows nothing',
    LOOK,
    'checkKnown({ after: window.day })',
    'checkKnown()',
    KNOWN,
  ),
  mutant(
    'what is refused as too old is not forgotten',
    LOOK,
    'if (error instanceof RequestError) return 0;',
    'if (error === 0) return 0;',
    KNOWN,
  ),
  mutant(
    'a known answer that cannot be had is that of the source',
    'src/walk/known-answers.ts',
    'else if (isOfRequest(error)) failures.push(error);',
    '',
    KNOWN,
  ),
  mutant(
    'one day that is not there is the whole address',
    'src/walk/due.ts',
    'if (isMisaddressed(error) && !(await known?.isAsEver(false))) {',
    'if (isMisaddressed(error)) {',
    KNOWN,
  ),
  mutant(
    'an answer that cannot be had makes evidence of none of the walks before',
    'src/store/leases.ts',
    'judged = case when $5 then',
    'judged = case when $5 or true then',
    KNOWN,
  ),
  mutant(
    'who stops takes the last one out of the queue',
    'src/source/limiter.ts',
    'if (at === -1) return;',
    'if (at === -2) return;',
    ['test/source/limiter.test.ts'],
  ),
  mutant(
    'a walk that holds less than was heard before is believed alone',
    'src/walk/settle.ts',
    'newest.stored === 0 || before.every((walk) => mostHeard(walk) <= newest.stored)',
    'newest.stored >= 0',
    ['test/walk/overlooked.test.ts'],
  ),
  mutant(
    'a copy that is gone leads one that another stream shows',
    'migrations/0003_publishing.sql',
    'order by c.gone, c.number) as rank',
    'order by c.number) as rank',
    ['test/tables/one-count.test.ts'],
  ),
  mutant(
    'identities of another path are taken for those of now',
    'migrations/0002_storing.sql',
    'when stored_by = id_path then stored',
    'when stored is not null then stored',
    ['test/tables/one-count.test.ts'],
  ),
  mutant(
    'what a person accepted as lost is lost again',
    'migrations/0003_publishing.sql',
    " and mark.since > coalesce(s.accepted_at, '-infinity')",
    '',
    ['test/store/kept.test.ts'],
  ),
];
