/** The plan: which failover comes when, in the midst of what, and before which database; the same seed gives the same plan. */
import { dice } from '../support/dice.ts';

/** What stands between the program and Postgres, and whether a standby has what was acknowledged. */
export const GROUPS = {
  synchronous: { failovers: 40, what: 'synchronous standby, several hosts in DATABASE_URL' },
  asynchronous: { failovers: 40, what: 'asynchronous standby, several hosts in DATABASE_URL' },
  proxied: { failovers: 20, what: 'synchronous standby, behind PgBouncer and HAProxy' },
} as const;
export type Group = keyof typeof GROUPS;

/** How the primary goes: its Postgres is killed, the node with its Patroni is, or it hands over. */
export const WAYS = ['Postgres killed', 'node killed', 'switchover'] as const;
export type Way = (typeof WAYS)[number];

/** What the program is in the midst of: the statement that the failover waits for. */
export const MIDSTS = {
  pages: /daywalk\.store_page/,
  proofs: /daywalk\.prove_window/,
  publications: /daywalk\.close_split|daywalk\.append_to_ledger/,
  splits: /daywalk\.split_window/,
  cuts: /daywalk\.prove_cut/,
  pruning: /daywalk\.mark_pruned|daywalk\.empty_month/,
  'table sync': /daywalk\.(?:begin|fill|end)_table_day/,
} as const;
export type Midst = keyof typeof MIDSTS;

/** One failover. */
export interface Failover {
  /** From 1. */
  readonly number: number;
  readonly group: Group;
  readonly way: Way;
  readonly midst: Midst;
  /** Of the statements of that kind this one, from 1. */
  readonly nth: number;
  /** Before Postgres has the statement, or when it has answered it and the program does not know. */
  readonly moment: 'before' | 'after';
  /** Asynchronous, killed: so many statements of the program take effect that the standby does not get. */
  readonly lost: number;
  /** Records of an exported day that the source no longer has, by chance. */
  readonly seed: number;
}

/** So often each statement comes at least. */
const MOST: Readonly<Record<Midst, number>> = {
  pages: 12,
  proofs: 6,
  publications: 2,
  splits: 2,
  cuts: 3,
  pruning: 1,
  'table sync': 3,
};

/** All of them, group by group. */
export function planFailovers(seed: number): Failover[] {
  const random = dice(seed);
  const below = (count: number) => Math.floor(random() * count);
  const plan: Failover[] = [];
  for (const [group, { failovers }] of Object.entries(GROUPS) as [Group, { failovers: number }][])
    for (const { way, midst } of shuffled(failovers, below))
      plan.push({
        number: plan.length + 1,
        group,
        way,
        midst,
        nth: 1 + below(MOST[midst]),
        moment: below(2) === 0 ? 'before' : 'after',
        lost: group === 'asynchronous' && way !== 'switchover' ? 3 + below(10) : 0,
        seed: below(2 ** 31),
      });
  return plan;
}

/** Each way in the midst of everything, as evenly as the count allows, in an order of chance. */
function shuffled(count: number, below: (count: number) => number) {
  const midsts = Object.keys(MIDSTS) as Midst[];
  const all = WAYS.flatMap((way) => midsts.map((midst) => ({ way, midst })));
  const deck: { way: Way; midst: Midst }[] = [];
  while (deck.length < count) {
    const round = [...all];
    while (round.length > 0 && deck.length < count)
      deck.push(...round.splice(below(round.length), 1));
  }
  return deck;
}
