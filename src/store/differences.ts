/** What later walks found to be different from what was published before them: late, changed and vanished records. */
import type { Database } from './database.ts';

/** How a walk differs from the one that was published before it. */
export interface Difference {
  readonly appeared: number;
  readonly vanished: number;
}

/** What this walk was found to have more and less; null: nothing. */
export async function readDifference(
  database: Database,
  walkId: number,
): Promise<Difference | null> {
  const [row] = await database.persist<{ appeared: number; vanished: number }>(
    'select appeared, vanished from daywalk.differences where walk_id = $1',
    [walkId],
  );
  return row ?? null;
}

/** How late a stream's records came, and how many of them went. */
export interface StreamDifferences {
  readonly stream: string;
  /** Records found after their day had closed. */
  readonly late: number;
  /** The longest time after closing at which any was found; hours. */
  readonly longestHours: number;
  /** Records that the source does not show any more, or shows differently. */
  readonly vanished: number;
}

/** Sums for each of these streams that has any. */
export function readStreamDifferences(
  database: Database,
  streamNames: readonly string[],
): Promise<StreamDifferences[]> {
  return database.persist(
    `select s.name as stream, sum(d.appeared)::bigint as late, sum(d.vanished)::bigint as vanished,
            coalesce((max(extract(epoch from d.after)) filter (where d.appeared > 0))::double precision / 3600, 0) as "longestHours"
       from daywalk.differences d
       join daywalk.windows w on w.window_id = d.window_id
       join daywalk.streams s on s.stream_id = w.stream_id
      where s.name = any ($1::text[])
      group by s.name order by s.name`,
    [streamNames],
  );
}
