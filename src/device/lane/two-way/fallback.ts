import type { ServiceTask } from '../state/lane-options.ts';
import type { OpenStream } from '../state/session-state.ts';
import type { StepContext } from '../state/step-context.ts';
import type { Backlog } from '../uplink/backlog.ts';
import { turnsByKey, twoWayIn } from './two-way.ts';

/**
 * The service has refused a two-way task. If the service was asked to detect who speaks, a key says that from now on. If it
 * refused the direction that the last key press asked for, the other direction continues.
 * @returns false if the task was refused for another reason
 */
export function fallBack(
  context: StepContext,
  refused: ServiceTask | null,
  { confirmedTask }: OpenStream,
  message: string,
): boolean {
  const { twoWay } = context.state;
  if (refused?.speaker === 'both' && twoWayIn(context.state) === 'auto') {
    context.set({ twoWay: { ...twoWay, isRefused: true } });
    const sentence = `the service says: ${message}; a key says who speaks from now on`;
    context.notify('two_way_fallback', { from: 'auto', mode: 'button', message: sentence });
    return true;
  }
  const isTurn =
    turnsByKey(context.state) && confirmedTask !== null && confirmedTask.speaker !== refused?.speaker;
  if (refused === null || !isTurn) return false;
  const speaker = confirmedTask.speaker === 'target' ? 'target' : 'source';
  context.set({ twoWay: { ...twoWay, speaker }, backlog: withoutSpeech(context.state.backlog, speaker) });
  const { source, targets, voice } = refused;
  context.notify('refused', { cause: 'task_rejected', message, source, targets, voice });
  return true;
}

/** The backlog with silence in place of the other speaker's speech, which no task translates. */
function withoutSpeech(backlog: Backlog, speaker: 'source' | 'target'): Backlog {
  const chunks = backlog.chunks.map((chunk) =>
    chunk.speaker === speaker ? chunk : { ...chunk, pcm: null, voiced: false, speaker },
  );
  return { ...backlog, chunks };
}
