import type { LaneState } from './state.ts';
import type { Turn } from './turn.ts';

/** An outage in which the backlog has no room left and speech goes lost. All times monotonic milliseconds. */
export interface SpeechLoss {
  readonly lostMs: number;
  /** What made the outage, as far as it was known when the loss began. */
  readonly cause: string;
  /** When the first of what is lost was said, and the end of the last. */
  readonly from: number;
  readonly to: number;
  /** When speech went lost last. */
  readonly lastAt: number;
  /** When the owner was told last, or the loss began. */
  readonly toldAt: number;
}

/** A loss that has paused so long is over, if the lane streams: a slow way loses a word now and then. */
const OVER_AFTER_MS = 10_000;
/** An outage that does not end is told again so often. */
const TELL_EACH_MS = 600_000;

/** Looks at what a step has lost. Once for each outage the owner is told the sum, at its end; a long one each ten minutes. */
export function attendLoss(turn: Turn, before: LaneState): void {
  const { hold, settings, loss } = turn.state;
  const lost = hold.accounts.lost - before.hold.accounts.lost;
  if (lost > 0) return lose(turn, lost * settings.chunkMs);
  if (loss === null || !isOver(turn.state, loss, turn.now)) return;
  turn.set({ loss: null });
  tell(turn, loss);
}

function lose(turn: Turn, lostMs: number): void {
  const { hold, settings, loss } = turn.state;
  const oldest = hold.chunks[0];
  const to = oldest === undefined ? turn.now : oldest.capturedAt - settings.chunkMs;
  const more: SpeechLoss = {
    lostMs: (loss?.lostMs ?? 0) + lostMs,
    cause: loss?.cause ?? causeOf(turn.state),
    from: loss?.from ?? to - lostMs,
    to,
    lastAt: turn.now,
    toldAt: loss?.toldAt ?? turn.now,
  };
  const isDue = turn.now - more.toldAt >= TELL_EACH_MS;
  turn.set({ loss: isDue ? { ...more, toldAt: turn.now } : more });
  if (isDue) tell(turn, more, { ongoing: true });
}

function tell(turn: Turn, { lostMs, cause, from, to }: SpeechLoss, more: { ongoing?: true } = {}): void {
  turn.notify('speech_lost', { lost_ms: Math.round(lostMs), cause, ...more }, { from, to });
}

function isOver({ phase, stream }: LaneState, { lastAt }: SpeechLoss, now: number): boolean {
  switch (phase) {
    case 'live':
    case 'rolling':
      return stream?.congestedSince == null && now - lastAt >= OVER_AFTER_MS;
    case 'idle':
    case 'standby':
    case 'draining':
    case 'closed':
      return true;
    default:
      return false;
  }
}

/** What keeps speech from leaving this machine. */
function causeOf({ stream, approach, lineUp, backendSilent, problem }: LaneState): string {
  if (stream?.congestedSince != null) return 'congested';
  if (approach?.stage === 'acquiring' && !lineUp) return 'no_line';
  if (approach?.stage === 'acquiring' && backendSilent) return 'no_backend';
  return problem?.code ?? 'no_session';
}
