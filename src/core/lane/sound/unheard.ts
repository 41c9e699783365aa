import { hold, probe } from '../../playout/held.ts';
import type { PlayoutFormat } from '../../playout/playout.ts';
import type { Unheard } from '../observations.ts';
import { isListening, type Phase } from '../phases.ts';
import type { StepContext } from '../step-context.ts';

/**
 * Translated speech without a loudspeaker. It is held, and said when the loudspeaker is back; what is too old by then is told.
 * The stream goes on: captions are read where nothing is heard.
 */

/** A loudspeaker that only a write can find well again is tried this often while something waits for it. */
const PROBE_EACH_MS = 5000;
/** And this often while nothing does: its status should not stay `lost` until the next visitor comes. */
const IDLE_PROBE_EACH_MS = 60_000;
/** One that takes sound again for so long has done with losing it. */
const OVER_AFTER_MS = 3000;
/** One that stays away is told of again so often. */
const TELL_EACH_MS = 600_000;
const AT_REST: readonly Phase[] = ['idle', 'standby', 'closed'];

/** Keeps what waits for as long as it is worth saying. */
export function holdSpeech(context: StepContext, format: PlayoutFormat): void {
  const { playout, givenUp, nextAt } = hold(context.state.playout, context.now);
  context.set({ playout });
  noteUnheard(context, givenUp.bytes / format.bytesPerMs, givenUp.sentences);
  if (!isListening(context.phase)) return context.disarm('playout');
  const eachMs = nextAt === Number.POSITIVE_INFINITY ? IDLE_PROBE_EACH_MS : PROBE_EACH_MS;
  const probedAt = context.state.probedAt ?? context.now;
  if (context.now >= probedAt + eachMs) tryLoudspeaker(context, format);
  else context.set({ probedAt });
  context.arm('playout', Math.min(nextAt, (context.state.probedAt ?? context.now) + eachMs));
}

function tryLoudspeaker(context: StepContext, format: PlayoutFormat): void {
  const { playout, pcm, write } = probe(context.state.playout, context.now, format);
  context.set({ playout, probedAt: context.now });
  context.emit({ type: 'play', kind: 'fade', pcm, write, receivedAt: null });
}

/** Nobody has heard so much of what the service has said. */
export function noteUnheard(context: StepContext, ms: number, sentences: number): void {
  if (ms <= 0) return;
  const { unheard } = context.state;
  context.count('unheardMs', ms);
  const more: Unheard = {
    ms: (unheard?.ms ?? 0) + ms,
    sentences: (unheard?.sentences ?? 0) + sentences,
    lastAt: context.now,
    toldAt: unheard?.toldAt ?? context.now,
  };
  const isDue = context.now - more.toldAt >= TELL_EACH_MS;
  context.set({ unheard: isDue ? { ...more, toldAt: context.now } : more });
  if (isDue) tell(context, more, { ongoing: true });
}

/** The owner is told the sum of it once, when it is over. */
export function trackUnheard(context: StepContext): void {
  const { unheard, playbackLost } = context.state;
  if (unheard === null) return;
  const isOver = !playbackLost && context.now - unheard.lastAt >= OVER_AFTER_MS;
  if (!isOver && !AT_REST.includes(context.phase)) return;
  context.set({ unheard: null });
  tell(context, unheard);
}

function tell(context: StepContext, { ms, sentences }: Unheard, more: { ongoing?: true } = {}): void {
  const { playout, settings } = context.state;
  context.notify('speech_dropped', {
    why: 'no_loudspeaker',
    // A part of one is one, too.
    sentences: Math.max(1, sentences),
    dropped_ms: Math.round(ms),
    waiting_ms: Math.round(playout.queuedBytes / settings.playoutBytesPerMs),
    ...more,
  });
}
