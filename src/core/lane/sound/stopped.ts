import { type Unsounded, unsounded } from '../../playout/playout.ts';
import type { StepContext } from '../step-context.ts';
import { dropOutputAudio, runsOutMs, type Sound, silenceLoudspeaker } from './playback.ts';
import { noteUnheard } from './unheard.ts';

/**
 * Translated speech that nobody hears because the lane is ended: what waited then, and what the service speaks while its end is
 * waited for. The owner has wished it, so it is no trouble; it is told all the same, once, when nothing more of it can come.
 */

/** Less than this is the end of a word, or no word at all. */
const LEAST_TOLD_MS = 200;

/** Nothing is said any more. */
export function stopSpeaking(context: StepContext): void {
  const { playout, settings, playbackLost } = context.state;
  // Without a loudspeaker nothing of what was written is heard later.
  const from = playbackLost ? Number.POSITIVE_INFINITY : context.now + runsOutMs(context.state);
  note(context, unsounded(playout, from, settings.playoutBytesPerMs));
  silenceLoudspeaker(context);
}

/** Translated sound has come that nobody wants any more. */
export function dropSound(context: StepContext, stream: number, message: Sound): void {
  note(context, dropOutputAudio(context, stream, message));
}

function note(context: StepContext, { sentences, ms }: Unsounded): void {
  if (context.state.playbackLost) return noteUnheard(context, ms, sentences);
  if (ms <= 0) return;
  const { stopped } = context.state;
  context.set({ stopped: { sentences: (stopped?.sentences ?? 0) + sentences, ms: (stopped?.ms ?? 0) + ms } });
}

/** The owner is told of it once, when the session is over. */
export function trackStopped(context: StepContext): void {
  const { stopped, session } = context.state;
  if (stopped === null || session.kind === 'draining') return;
  context.set({ stopped: null });
  if (stopped.ms < LEAST_TOLD_MS) return;
  context.count('speechDroppedMs', stopped.ms);
  context.notify('speech_dropped', {
    why: 'stop',
    // A part of one is one, too.
    sentences: Math.max(1, stopped.sentences),
    dropped_ms: Math.round(stopped.ms),
    waiting_ms: 0,
  });
}
