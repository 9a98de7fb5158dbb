/** Mutants of paging, proofs, planning and storing: what keeps a day from being complete without all its records. */
import { type Mutant, mutant } from './mutant.ts';

const PAGES = 'src/store/pages.ts';
const STORING = 'migrations/0002_storing.sql';
const PROOF = 'src/export/proof.ts';
const MOVES = 'src/export/moves.ts';
const PUBLISHING = 'migrations/0003_publishing.sql';
const PROOF_TESTS = ['test/export/proof.test.ts', 'test/export/proof-property.test.ts'];
const ODD = [
  ...PROOF_TESTS,
  'test/export/odd-sources.test.ts',
  'test/export/export-property.test.ts',
];

export const PROOF_MUTANTS: readonly Mutant[] = [
  mutant(
    'the checkpoint advances by the length that was asked for',
    STORING,
    'set next_start = k.next_start + store_page.records,',
    'set next_start = k.next_start + 100,',
    ['test/store/commit.test.ts'],
  ),
  mutant(
    'a short page is the end',
    PROOF,
    "return seen.lastRecords > 0 && seen.lastCame >= full ? { kind: 'page' } : { kind: 'probe' };",
    "return seen.lastRecords > 0 && seen.lastCame >= full ? { kind: 'page' } : closed(seen, '');",
    ODD,
  ),
  mutant(
    'a total that was reached ends the walk without a look at the page',
    PROOF,
    'const trusted = short && counted && !looksCapped(seen);',
    'const trusted = true || short || counted;',
    ODD,
  ),
  mutant(
    'a total that moved is no shift',
    PROOF,
    'if (total !== null && seen.firstTotal !== null && total !== seen.firstTotal)',
    'if (total !== null && total < 0)',
    ODD,
  ),
  mutant(
    'a walk ends though the total says more',
    PROOF,
    'if (total !== null && seen.records < total) {',
    'if (total !== null && seen.records < total && seen.lastRecords > 0) {',
    ODD,
  ),
  mutant(
    'an empty window is not confirmed',
    PROOF,
    ": { kind: 'confirm' };\n  const full",
    ": closed(seen, 0, '');\n  const full",
    ODD,
  ),
  mutant(
    'a probe that finds another record proves all the same',
    PROOF,
    'probe.beginsWithLast || (seen.pages === 1',
    'probe.records > 0 || (seen.pages === 1',
    ODD,
  ),
  mutant(
    'a probe that finds more records ends the walk',
    PROOF,
    'if (probe.records > 1)',
    'if (probe.records > 2)',
    ODD,
  ),
  mutant(
    'an end at a round number is believed',
    PROOF,
    'return ROUND_CAPS.has(seen.records) && seen.records >= seen.provenSize;',
    'return ROUND_CAPS.has(-1);',
    ODD,
  ),
  mutant(
    'an ignored start is not noticed',
    PROOF,
    'if (sameAgain)\n',
    'if (sameAgain && seen.records < 0)\n',
    ODD,
  ),
  mutant(
    'a window without totals is not proven by its halves',
    MOVES,
    "return proof.kind === 'probe' && proof.records > 0 && proof.records >= provenSize;",
    "return proof.kind === 'probe' && proof.records < 0 && proof.records >= provenSize;",
    ODD,
  ),
  mutant(
    'a record that stands on two pages is nothing',
    MOVES,
    "if (repeated === 0) return { kind: 'settled', proof };",
    "if (repeated >= 0) return { kind: 'settled', proof };",
    [...ODD, 'test/torture/fast.test.ts'],
  ),
  mutant(
    'a page that does not continue the one before is stored',
    STORING,
    'skip_first = 0 or hashes[1] is not distinct from',
    'true or hashes[1] is not distinct from',
    ['test/store/commit.test.ts'],
  ),
  mutant(
    'pages are parsed and written again',
    'src/store/page-facts.ts',
    'Buffer.concat([JSONB_VERSION, body]);',
    'Buffer.concat([JSONB_VERSION, Buffer.from(JSON.stringify(JSON.parse(body.toString())))]);',
    ['test/store/fidelity.test.ts'],
  ),
  mutant(
    'what jsonb refuses is stored without its bytes',
    PAGES,
    'return { body: clean, bytes: body, changes',
    'return { body: clean, bytes: null, changes',
    ['test/store/commit.test.ts', 'test/store/sanitise.test.ts', 'test/store/json-corpus.test.ts'],
  ),
  mutant(
    'an error object with an empty list is an empty page',
    'src/export/reading.ts',
    'if (facts.complaint !== null) {',
    "if (facts.complaint === 'never') {",
    ['test/export/odd-sources.test.ts'],
  ),
  mutant(
    'overlaps are not marked',
    PUBLISHING,
    'if shared is null then return; end if;',
    'return;',
    ['test/store/overlaps.test.ts'],
  ),
  mutant(
    'readers see walks that are not published',
    'migrations/0004_views.sql',
    "join daywalk.walks k on k.walk_id = p.walk_id and k.published and k.pruning is null\n  join daywalk.windows w on w.window_id = k.window_id\n  join daywalk.streams s on s.stream_id = w.stream_id and s.resource = 'events'",
    "join daywalk.walks k on k.walk_id = p.walk_id and k.pruning is null\n  join daywalk.windows w on w.window_id = k.window_id\n  join daywalk.streams s on s.stream_id = w.stream_id and s.resource = 'events'",
    ['test/store/views.test.ts', 'test/store/publish.test.ts'],
  ),
  mutant(
    'parts are not added up',
    PUBLISHING,
    "if stored_records < above.split_total or (above.split_by = 'level' and stored_records <> above.split_total) then",
    'if stored_records < 0 then',
    ['test/store/overlaps.test.ts'],
  ),
  mutant(
    'a day is closed before it has ended',
    'src/plan/days.ts',
    'let day = addDays(dayAt(settled, timeZone), -1);',
    'return dayAt(settled, timeZone);\n  let day = addDays(dayAt(settled, timeZone), -1);',
    ['test/plan/days.test.ts', 'test/plan/planner.test.ts'],
  ),
  mutant(
    'the settle delay is forgotten',
    'src/plan/days.ts',
    'const settled = nowMs - settleMs;',
    'const settled = nowMs - 0 * settleMs;',
    ['test/plan/days.test.ts', 'test/plan/planner.test.ts'],
  ),
  mutant(
    'a missed day is not planned again',
    'src/plan/planner.ts',
    'if (next <= last) left.push({ from: next, to: last });',
    '',
    ['test/plan/planner.test.ts'],
  ),
  mutant(
    'windows of days that are not wanted stand for a missing one',
    'migrations/0004_views.sql',
    ' and w.day between s.since and c.last_closed) <=',
    ') <=',
    ['test/store/views.test.ts', 'test/export/day-states.test.ts'],
  ),
  mutant(
    'a stream goes on with other filters',
    'src/store/streams.ts',
    'if (row.fingerprint !== fingerprint(stream))',
    'if (row.fingerprint === null)',
    ['test/store/streams.test.ts'],
  ),
  mutant(
    'dates are shifted by the zone of the process',
    'src/store/database.ts',
    'if (oid === pg.types.builtins.DATE || oid === pg.types.builtins.TIMESTAMP)\n      return (text: string) => text;',
    '',
    ['test/store/fidelity.test.ts'],
  ),
  mutant('a bigint is a text', 'src/store/database.ts', 'if (oid === int8) return Number;', '', [
    'test/store/fidelity.test.ts',
    'test/store/commit.test.ts',
  ]),
];
