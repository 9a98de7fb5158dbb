/** Progress in words: one line for logs, and a frame of lines for a terminal. */
import type { LimiterState } from '../../source/limiter.ts';
import { formatCount, formatDuration, linesOf } from '../../text.ts';
import type { ProgressState, RunningNow } from './run-progress.ts';

const BAR_CELLS = 10;

/** Share, what is left, and the rate, in one line; a narrow terminal cuts what matters least. */
export function progressLine(state: ProgressState): string {
  return linesOf(
    `${formatCount(state.done + state.failed)}/${formatCount(state.windows)} windows`,
    state.failed > 0 && `${formatCount(state.failed)} failed`,
    state.leftMs !== null && `about ${formatDuration(state.leftMs)} left`,
    `${formatCount(state.records)} records`,
    `${formatCount(state.recordsPerSecond)}/s`,
    `${state.running.length} running`,
  ).join(' · ');
}

/** How the API is being asked: requests under way, those that wait, and a pause that the API asked for. */
export function requestsLine(now: LimiterState): string {
  const { limit, underWay, waiting, pausedMs } = now;
  return linesOf(
    `requests: ${underWay} of at most ${limit} under way`,
    waiting > 0 && `${formatCount(waiting)} waiting`,
    pausedMs > 0
      ? `all paused for ${formatDuration(pausedMs)}: the API refused some`
      : reasonOf(now),
  ).join(' · ');
}

/** Whether requests wait for something that an operator can look into. */
export const isHeldBack = (now: LimiterState): boolean =>
  now.pausedMs > 0 || reasonOf(now).length > 0;

function reasonOf({ why, pace }: LimiterState): string[] {
  if (why === 'pace') return [`the API takes about ${formatCount(Math.round(pace ?? 0))} a second`];
  if (why === 'quota') return ['the quota of the API is nearly used up'];
  return why === 'rate' ? ['at the rate that is set'] : [];
}

/** A bar for the whole, a line for the requests, a line for each running window; none wider or more than fits. */
export function progressFrame(
  state: ProgressState,
  requests: LimiterState,
  [width, height]: readonly [columns: number, rows: number],
): string[] {
  const share = state.windows === 0 ? 0 : (state.done + state.failed) / state.windows;
  const full = Math.floor(share * BAR_CELLS);
  const bar = '█'.repeat(full) + '░'.repeat(BAR_CELLS - full);
  const lines = [
    `${bar} ${progressLine(state)}`,
    `  ${requestsLine(requests)}`,
    ...state.running.map(windowLine),
  ];
  // One row stays free, so that the terminal does not scroll.
  return lines.slice(0, Math.max(1, height - 1)).map((line) => line.slice(0, width - 1));
}

function windowLine(running: RunningNow): string {
  const { stream, records, total, elapsedMs } = running;
  const of = total === null ? '' : ` of ${formatCount(total)}`;
  return `  ${stream} ${spanOf(running)}: ${formatCount(records)}${of} records, ${formatDuration(elapsedMs)}`;
}

/** A whole day by its name, anything shorter by its times. */
function spanOf({ day, from, to }: RunningNow): string {
  const [start, end] = [from.slice(11), to.slice(11)];
  if (start === '00:00:00' && end === '23:59:59') return day;
  return start === end ? `${day} ${start}` : `${day} ${start}–${end}`;
}
