import { isListening } from '../../../protocol/phases.ts';
import type { Playout } from '../../playout/playout.ts';
import type { DropReason } from '../../playout/playout-state.ts';
import { type DroppedSpeech, REPORT_EACH_MS } from '../state/loss-record.ts';
import type { StepContext } from '../state/step-context.ts';

/** Translated speech that is not played: too late, spoken over, without a loudspeaker, cut by the plug of a headset, or after a stop. */

/** Time (ms) without another drop after which the sum is reported: a service sends a sentence in a burst. */
const DROPS_OVER_AFTER_MS = 3000;
/** Dropped speech (ms) that is worth an event: less may be just the end of a word. */
const LEAST_DROPPED_MS = 200;

export function dropSpeech(context: StepContext, why: DropReason, ms: number, sentences: number): void {
  if (ms <= 0) return;
  const { dropped } = context.state;
  if (dropped !== null && dropped.why !== why) report(context, dropped);
  const known = dropped?.why === why ? dropped : { ms: 0, sentences: 0, reportedAt: context.now };
  const sum = { why, ms: known.ms + ms, sentences: known.sentences + sentences, lastAt: context.now };
  const isDue = context.now - known.reportedAt >= REPORT_EACH_MS;
  context.count('speechDroppedMs', ms);
  context.set({ dropped: { ...sum, reportedAt: isDue ? context.now : known.reportedAt } });
  if (isDue) report(context, { ...sum, reportedAt: context.now }, { ongoing: true });
}

/** Records received sound that the playout has dropped. */
export function noteDropped(context: StepContext, before: Playout): void {
  const { playout, settings, playbackLost } = context.state;
  const inMs = (bytes: number): number => bytes / settings.playoutBytesPerMs;
  for (const why of ['no_loudspeaker', 'barge_in', 'headset'] as const)
    dropSpeech(context, why, inMs(playout.late[why] - before.late[why]), 0);
  const lagMs = inMs(playout.shed.bytes - before.shed.bytes);
  const sentences = playout.shed.sentences - before.shed.sentences;
  dropSpeech(context, playbackLost ? 'no_loudspeaker' : 'lag', lagMs, sentences);
}

/** At the end of a step: reports the sum once nothing more is dropped. */
export function trackDropped(context: StepContext): void {
  const { dropped, session, playbackLost } = context.state;
  if (dropped === null) return;
  const { why, lastAt } = dropped;
  const isDraining = session.kind === 'draining';
  const isQuiet = context.now - lastAt >= DROPS_OVER_AFTER_MS && !(why === 'no_loudspeaker' && playbackLost);
  const isAtRest = why === 'stop' || session.kind === 'standby' || !isListening(context.phase);
  if (isDraining || (!isQuiet && !isAtRest)) return;
  context.set({ dropped: null });
  report(context, dropped);
}

function report(
  context: StepContext,
  { why, ms, sentences }: DroppedSpeech,
  more: { ongoing?: true } = {},
): void {
  if (ms < LEAST_DROPPED_MS) return;
  const { playout, settings } = context.state;
  context.notify('speech_dropped', {
    why,
    // A part of a sentence counts as a sentence.
    sentences: Math.max(1, sentences),
    dropped_ms: Math.round(ms),
    waiting_ms: Math.round(playout.queuedBytes / settings.playoutBytesPerMs),
    ...more,
  });
}
