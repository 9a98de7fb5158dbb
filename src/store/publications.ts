/** Publications: when what is shown of a day changed, and what the source does not show any more. */
import type { Day } from '../model.ts';
import type { Database } from './database.ts';

/** What a stream's source does not show any more of what it once showed. */
export interface Gone {
  readonly stream: string;
  /** Records that are shown and that the source does not show; changed ones, too, where records are not identified. */
  readonly gone: number;
  /** Those on balance: less the records that appeared in the walks that first lacked them. */
  readonly lost: number;
  /** Days that have any. */
  readonly days: number;
  /** Days of which it lost more than ten records, and more than one in a hundred. */
  readonly failures: readonly {
    readonly day: Day;
    readonly lost: number;
    readonly records: number;
  }[];
  /** Days that it has forgotten, oldest first: its retention. */
  readonly retiredDays: number;
  readonly newestRetired: Day | null;
  /** Records are identified, so that a changed one is shown once. */
  readonly identified: boolean;
}

/** A condition: day `d` lost so much that it counts as a failure of the source. */
export const LOST_TOO_MUCH = '(d.lost > 10 and d.lost > 0.01 * d.records)';

/** What is gone from each of these streams that is registered; retired days are not counted as lost. */
export function readGone(database: Database, streamNames: readonly string[]): Promise<Gone[]> {
  return database.persist(
    `select s.name as stream, coalesce(sum(d.gone), 0)::bigint as gone,
            coalesce(sum(d.lost) filter (where d.retired_since is null), 0)::bigint as lost,
            count(*) filter (where d.gone > 0) as days,
            coalesce(jsonb_agg(jsonb_build_object('day', d.day, 'lost', d.lost, 'records', d.records) order by d.day)
                       filter (where d.retired_since is null and ${LOST_TOO_MUCH}), '[]') as failures,
            count(*) filter (where d.retired_since is not null) as "retiredDays",
            max(d.day) filter (where d.retired_since is not null) as "newestRetired",
            s.id_path is not null as identified
       from daywalk.streams s
       left join daywalk.days d on d.stream_id = s.stream_id and (d.gone > 0 or d.retired_since is not null)
      where s.name = any ($1::text[])
      group by s.stream_id
      order by array_position($1::text[], s.name)`,
    [streamNames],
  );
}
