/** Progress in words: one line for logs, and a frame of lines for a terminal. */
import type { LimiterState } from '../../source/limiter.ts';
import { formatCount, formatDuration, linesOf } from '../../text.ts';
import type { ProgressState, RunningNow } from './run-progress.ts';

/** What the terminal can show. */
export interface FrameLook {
  readonly width: number;
  readonly height: number;
  readonly unicode: boolean;
}

const WINDOW_BAR_CELLS = 10;

/** What a line of progress can say, in its order. */
const PARTS = ['windows', 'failed', 'running', 'records', 'rate', 'left'] as const;
type Part = (typeof PARTS)[number];
/** What is left out of a line that is too long, and how many cells its bar has then; never the time that is left. */
const SHORTER: readonly { readonly cells: number; readonly without: readonly Part[] }[] = [
  { cells: 24, without: [] },
  { cells: 8, without: [] },
  { cells: 8, without: ['running'] },
  { cells: 8, without: ['running', 'rate'] },
  { cells: 0, without: ['running', 'rate', 'records'] },
];

/** Share, rate and what is left, in one line. */
export function progressLine(state: ProgressState, without: readonly Part[] = []): string {
  const words: Readonly<Record<Part, string | null>> = {
    windows: `${formatCount(state.done + state.failed)}/${formatCount(state.windows)} windows`,
    failed: state.failed === 0 ? null : `${formatCount(state.failed)} failed`,
    running: `${state.running.length} running`,
    records: `${formatCount(state.records)} records`,
    rate: `${formatCount(Math.round(state.recordsPerSecond))}/s`,
    left: state.leftMs === null ? null : `about ${formatDuration(state.leftMs)} left`,
  };
  return PARTS.flatMap((part) => (without.includes(part) ? [] : (words[part] ?? []))).join(' · ');
}

/** The same behind a bar, as short as the terminal wants it. */
function totalLine(state: ProgressState, look: FrameLook): string {
  const over = state.windows === 0 ? 0 : (state.done + state.failed) / state.windows;
  const lines = SHORTER.map(({ cells, without }) =>
    `${bar(over, cells, look)} ${progressLine(state, without)}`.trimStart(),
  );
  return lines.find((line) => line.length < look.width) ?? lines.at(-1) ?? '';
}

/** How the API is being asked: requests under way, those that wait, and a pause that the API asked for. */
export function requestsLine(now: LimiterState): string {
  const { limit, underWay, waiting, pausedMs } = now;
  return linesOf(
    `requests: ${underWay} of at most ${limit} under way`,
    waiting > 0 && `${formatCount(waiting)} waiting`,
    pausedMs > 0 ? `all paused for ${formatDuration(pausedMs)}, as the API refused` : reasonOf(now),
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

/** A bar for the whole, a line for each running window, a line for the requests; none wider or more than fits. */
export function progressFrame(
  state: ProgressState,
  requests: LimiterState,
  look: FrameLook,
): string[] {
  const widest = (textOf: (running: RunningNow) => string) =>
    Math.max(0, ...state.running.map((running) => textOf(running).length));
  const widths = { name: widest(({ stream }) => stream), span: Math.min(19, widest(spanOf)) };
  const windows = state.running.map((running) => windowLine(running, widths, look));
  // Besides: the total, the requests, and one row that stays free, so that the terminal does not scroll.
  const room = Math.max(0, look.height - 3);
  const hidden = windows.length - room;
  const shown =
    hidden > 0
      ? [...windows.slice(0, Math.max(0, room - 1)), `  and ${hidden + 1} more windows`]
      : windows;
  const lines = [totalLine(state, look), ...shown, `  ${requestsLine(requests)}`];
  return lines.slice(0, Math.max(1, look.height - 1)).map((line) => line.slice(0, look.width - 1));
}

function windowLine(
  running: RunningNow,
  widths: { readonly name: number; readonly span: number },
  look: FrameLook,
): string {
  const { stream, records, total, elapsedMs } = running;
  const count =
    total === null
      ? records === 0
        ? 'nothing new yet'
        : `${formatCount(records)} records`
      : `${formatCount(records)} of ${formatCount(total)} records`;
  const share = total === null || total === 0 ? null : Math.min(1, records / total);
  const gauge = share === null ? ' '.repeat(WINDOW_BAR_CELLS) : bar(share, WINDOW_BAR_CELLS, look);
  const name = `  ${stream.padEnd(widths.name)}  ${spanOf(running).padEnd(widths.span)}`;
  const whole = `${name}  ${gauge}  ${count}, ${formatDuration(elapsedMs)}`;
  return whole.length < look.width ? whole : `${name}  ${count}`;
}

/** A whole day by its name, anything shorter by its times. */
function spanOf({ day, from, to }: RunningNow): string {
  const [start, end] = [from.slice(11), to.slice(11)];
  if (start === '00:00:00' && end === '23:59:59') return day;
  return start === end ? `${day} ${start}` : `${day} ${start}–${end}`;
}

function bar(share: number, cells: number, { unicode }: FrameLook): string {
  const full = Math.floor(share * cells);
  const [on, off] = unicode ? ['█', '░'] : ['#', '.'];
  return on.repeat(full) + off.repeat(cells - full);
}
