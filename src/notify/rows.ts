/** What people were told about the export: kept, so that nothing is told twice by restarts or by several workers. */
import type { Database } from '../store/database.ts';

/** How the export was found. */
export interface Condition {
  readonly failing: boolean;
  /** What is wrong; null: nothing. */
  readonly problem: string | null;
  /** When it began to fail; absent: now. */
  readonly since?: Date;
}

/** What is to be told, and to whom nobody else is telling it now. */
export interface Notification {
  readonly kind: 'failing' | 'still failing' | 'recovered';
  /** When it began to fail. */
  readonly since: Date;
}

/** While one process tells, others leave it alone; a killed one is not waited for longer than this. */
export const TELLING_MS = 120_000;
/** A little less than a day, so that a daily run repeats it daily. */
const REPEAT_HOURS = 23;

/** Notes how the export was found. A failure that ended and came back before the end was told is one failure. One attempt. */
export async function noteCondition(
  database: Database,
  streams: readonly string[],
  { failing, problem, since }: Condition,
): Promise<void> {
  await database.query(
    `insert into daywalk.alarms as a (streams, failing, problem, failing_since)
     values ($1::text[], $2, $3, case when $2 then coalesce($4::timestamptz, clock_timestamp()) end)
     on conflict (streams) do update
       set problem = excluded.problem,
           failing = excluded.failing,
           failing_since = case when excluded.failing and not a.failing and not a.told_failing
                                then excluded.failing_since else a.failing_since end`,
    [streams, failing, problem, since?.toISOString() ?? null],
  );
}

/** Takes on the telling of what is news; null: there is none, or another process is at it. One attempt. */
export async function claimNotification(
  database: Database,
  streams: readonly string[],
): Promise<Notification | null> {
  const [row] = await database.query<{
    failing: boolean;
    told_failing: boolean;
    failing_since: Date;
  }>(
    `update daywalk.alarms
        set telling_until = clock_timestamp() + make_interval(secs => $2::double precision / 1000)
      where streams = $1::text[]
        and (telling_until is null or telling_until < clock_timestamp())
        and (failing <> told_failing or failing and told_at < clock_timestamp() - make_interval(hours => $3))
      returning failing, told_failing, failing_since`,
    [streams, TELLING_MS, REPEAT_HOURS],
  );
  if (row === undefined) return null;
  const kind = !row.failing ? 'recovered' : row.told_failing ? 'still failing' : 'failing';
  return { kind, since: row.failing_since };
}

/** Notes that it was told, or that it could not be: then the next run tries again. One attempt. */
export async function noteNotified(
  database: Database,
  streams: readonly string[],
  kind: Notification['kind'],
  told: boolean,
): Promise<void> {
  await database.query(
    `update daywalk.alarms
        set telling_until = null,
            told_failing = case when $3 then $2 else told_failing end,
            told_at = case when $3 then clock_timestamp() else told_at end
      where streams = $1::text[]`,
    [streams, kind !== 'recovered', told],
  );
}
