import { isListening } from '../../../protocol/phases.ts';
import { hold, probe } from '../../playout/held.ts';
import type { PlayoutFormat } from '../../playout/playout.ts';
import { dropSpeech } from '../losses/speech-dropped.ts';
import type { StepContext } from '../state/step-context.ts';

/**
 * Without a loudspeaker, translated speech is held and played when the loudspeaker is back. The stream goes on, because
 * visitors still read the captions.
 */

/** Interval of probes (ms) while speech waits: some loudspeakers show their recovery only when written to. */
const PROBE_EACH_MS = 5000;
/** Interval of probes (ms) while nothing waits: the status must not stay `lost` until the next visitor comes. */
const IDLE_PROBE_EACH_MS = 60_000;

/** Holds speech for `heldSoundMs`, drops older speech, and probes the loudspeaker. */
export function holdSpeech(context: StepContext, format: PlayoutFormat): void {
  const { playout, givenUp, nextAt } = hold(
    context.state.playout,
    context.now,
    context.state.settings.heldSoundMs,
  );
  context.set({ playout });
  dropSpeech(context, 'no_loudspeaker', givenUp.bytes / format.bytesPerMs, givenUp.sentences);
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
