import type { Playout } from '../../playout/playout.ts';
import type { LateSpeech } from '../observations.ts';
import type { Phase } from '../phases.ts';
import type { StepContext } from '../step-context.ts';
import { noteUnheard } from './unheard.ts';

/**
 * Sentences that were given up are not given up in silence. A service sends a sentence as it speaks it: most of it may come
 * when it has been given up. That is told with the next one that is, or when nothing more comes.
 */

const OVER_AFTER_MS = 3000;
const AT_REST: readonly Phase[] = ['idle', 'draining', 'closed'];

/** Looks at what the playout has made of a sound. */
export function tellDropped(context: StepContext, before: Playout): void {
  const { playout, settings, playbackLost } = context.state;
  const inMs = (bytes: number): number => bytes / settings.playoutBytesPerMs;
  const since = (why: keyof Playout['late']): number => inMs(playout.late[why] - before.late[why]);
  noteUnheard(context, since('no_loudspeaker'), 0);
  noteLate(context, 'barge_in', since('barge_in'));
  if (playbackLost) noteUnheard(context, since('lag'), 0);
  else noteLate(context, 'lag', since('lag'));
  const sentences = playout.shed.sentences - before.shed.sentences;
  if (sentences === 0) return;
  const ms = inMs(playout.shed.bytes - before.shed.bytes);
  if (playbackLost) return noteUnheard(context, ms, sentences);
  tell(context, 'lag', sentences, ms);
}

function noteLate(context: StepContext, why: LateSpeech['why'], ms: number): void {
  if (ms <= 0) return;
  const { late } = context.state;
  if (late !== null && late.why !== why) tell(context, late.why, 0, 0);
  const known = context.state.late?.ms ?? 0;
  context.set({ late: { why, ms: known + ms, lastAt: context.now } });
}

/** What has come late is told once nothing more of it does. */
export function trackLateSpeech(context: StepContext): void {
  const { late } = context.state;
  if (late === null) return;
  const isOver = context.now - late.lastAt >= OVER_AFTER_MS || AT_REST.includes(context.phase);
  if (isOver) tell(context, late.why, 0, 0);
}

/** Tells what was given up, with what has come late of others before. */
function tell(context: StepContext, why: LateSpeech['why'], sentences: number, ms: number): void {
  const { playout, settings, late } = context.state;
  const lateMs = late?.why === why ? late.ms : 0;
  if (lateMs > 0) context.set({ late: null });
  context.count('speechDroppedMs', ms + lateMs);
  context.notify('speech_dropped', {
    why,
    sentences,
    dropped_ms: Math.round(ms + lateMs),
    waiting_ms: Math.round(playout.queuedBytes / settings.playoutBytesPerMs),
  });
}
