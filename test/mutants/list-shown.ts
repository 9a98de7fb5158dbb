/** Mutants of cuts, splits and showing: what keeps the records of a complete day together, each once, and none forgotten. */
import { type Mutant, mutant } from './mutant.ts';

const PUBLISHING = 'migrations/0003_publishing.sql';
const VIEWS = 'migrations/0004_views.sql';
const CUTS = ['test/store/cuts.test.ts'];
const SPLITS = ['test/store/splits.test.ts'];
const KEPT = ['test/store/kept.test.ts', 'test/store/kept-property.test.ts'];
const ASKED_CUTS = ['test/walk/found.test.ts'];

export const SHOWN_MUTANTS: readonly Mutant[] = [
  {
    name: 'readers see walks that are not proven',
    edits: [
      {
        file: VIEWS,
        find: /join daywalk\.walks k on k\.walk_id = p\.walk_id and k\.shown <> 'no' and k\.pruning is null/,
        replace: 'join daywalk.walks k on k.walk_id = p.walk_id and k.pruning is null',
      },
      {
        file: VIEWS,
        find: "and coalesce(mark.seen, k.shown = 'whole');",
        replace: "and coalesce(mark.seen, k.shown <> 'part');",
      },
    ],
    tests: ['test/store/views.test.ts', 'test/store/publish.test.ts'],
  },
  mutant(
    'a record that one walk lacks is gone at once',
    PUBLISHING,
    "when l.state = 'shown' or (l.state = 'missing' and l.since > at) then 'missing'",
    "when l.state = 'shown' or (l.state = 'missing' and l.since > at) then 'gone'",
    KEPT,
  ),
  mutant(
    'a record that a later walk lacks is shown no more',
    PUBLISHING,
    "when l.state = 'shown' or (l.state = 'missing' and l.since > at) then 'missing'",
    "when l.state = 'shown' or (l.state = 'missing' and l.since > at) then 'old'",
    KEPT,
  ),
  mutant(
    'a second walk within the hour confirms that a record is gone',
    PUBLISHING,
    "l.since + interval '1 hour' <= coalesce(leaf.proven_at",
    'l.since <= coalesce(leaf.proven_at',
    KEPT,
  ),
  mutant(
    'what is gone stays so when the source shows it again',
    PUBLISHING,
    "and h.state in ('missing', 'gone')",
    "and h.state = 'missing'",
    KEPT,
  ),
  mutant(
    'records that come late are not shown',
    PUBLISHING,
    'where a.rank <= want.wanted - coalesce(had.copies, 0);',
    'where a.rank < 0 * want.wanted - coalesce(had.copies, 0);',
    KEPT,
  ),
  mutant(
    'an older version is shown beside the newer one',
    PUBLISHING,
    "when known.id_hash is not null then 'old'",
    '',
    KEPT,
  ),
  mutant(
    'what is missing is not asked for again',
    PUBLISHING,
    'perform daywalk.ask_missing_again(top);',
    'null;',
    KEPT,
  ),
  mutant(
    'what is missing is not asked for again once its day was walked in between',
    PUBLISHING,
    'if marked or exists (select from daywalk.walks k',
    'if marked or false and exists (select from daywalk.walks k',
    ['test/walk/later.test.ts'],
  ),
  mutant(
    'a complete window is not looked at',
    PUBLISHING,
    "then proven + interval '1 hour' end,",
    'then null::timestamptz end,',
    KEPT,
  ),
  mutant(
    'what the sides of a cut show is not taken away from what lies across',
    PUBLISHING,
    "sum(case role when 'across' then copies else -copies end)",
    "sum(case role when 'across' then copies else 0 end)",
    CUTS,
  ),
  mutant(
    'what both days show of a record at midnight is shown twice',
    PUBLISHING,
    'where r.near and r.rank > r.most',
    'where false',
    CUTS,
  ),
  mutant(
    'what a cut hid stays hidden',
    PUBLISHING,
    'where mark.hidden_by = cut and k.walk_id = mark.walk_id and k.pruning is null',
    'where mark.hidden_by < 0 and k.walk_id = mark.walk_id and k.pruning is null',
    CUTS,
  ),
  mutant(
    'a copy that is gone is seen before one that the source shows',
    PUBLISHING,
    "array_position(array['shown', 'old'], p.state), ",
    '',
    CUTS,
  ),
  mutant(
    'what both days show is seen before what the source lost',
    PUBLISHING,
    "p.current and p.side = 'behind' and p.number <= p.twice, ",
    '',
    CUTS,
  ),
  mutant(
    'what a day shows far from midnight is hidden at it',
    PUBLISHING,
    '<= n.most_here + case',
    '> 0 + case',
    CUTS,
  ),
  mutant(
    'what a day lacks is hidden where its midnight has the like of it',
    PUBLISHING,
    "n.state in ('missing', 'gone') and n.first_found >= n.since",
    "n.state in ('missing', 'gone')",
    CUTS,
  ),
  mutant(
    'of two alike a day shows the one that it lost at midnight as gone',
    PUBLISHING,
    'not current or number <= found_here + most - across as eligible',
    'true as eligible',
    CUTS,
  ),
  mutant(
    'what goes from a midnight is shown by both days until they are walked',
    PUBLISHING,
    'found_here + most - across',
    'found_here',
    CUTS,
  ),
  mutant(
    'what a day shows now is shown with the cut beside it, too',
    PUBLISHING,
    "n.side = 'cut' or (n.eligible",
    '(n.eligible',
    CUTS,
  ),
  mutant(
    'a day is complete without the cut before it',
    VIEWS,
    "where w.state in ('pending', 'failed') and w.midnight is not null and side.day <> w.day",
    'where false',
    CUTS,
  ),
  mutant(
    'a cut is asked for without its reach',
    'src/walk/questions/span.ts',
    'across: around(second, -before, 1 + after),',
    'across: around(second, 0, 1),',
    ASKED_CUTS,
  ),
  mutant(
    'a split is due to be closed before its parts are complete',
    PUBLISHING,
    "where part.split_from = w.window_id and part.state not in ('complete', 'replaced'))",
    "where part.split_from = w.window_id and part.state = 'failed')",
    SPLITS,
  ),
  mutant(
    'a split is closed though a part is open',
    PUBLISHING,
    "or exists (select from daywalk.windows where split_from = target and state not in ('complete', 'replaced'))",
    '',
    SPLITS,
  ),
  mutant(
    'the cuts beside a part that changed are not asked anew',
    PUBLISHING,
    "if me.kind = 'part' and me.proven_at is not null then",
    'if false then',
    SPLITS,
  ),
  mutant(
    'parts need not add up',
    'src/walk/proof/closing.ts',
    "if (sum === 'short' || isShort)",
    'if (held < 0)',
    ['test/walk/found.test.ts'],
  ),
  mutant(
    'a split window that was walked whole counts its parts, too',
    PUBLISHING,
    '  select daywalk.replace_parts(array(select part from daywalk.subtree(target) as part where part <> target));\n',
    '',
    SPLITS,
  ),
  mutant(
    'any isolation level will do',
    PUBLISHING,
    "if current_setting('transaction_isolation') <> 'read committed' then",
    "if current_setting('transaction_isolation') = 'none' then",
    SPLITS,
  ),
];
