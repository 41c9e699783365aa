import type { AlsaTools } from '../../adapters/audio/cards/alsa-tools.ts';
import type { OpenPlayback, PlaybackSink } from '../../ports/audio.ts';
import { EXIT, Failure } from '../../program/problem.ts';
import { ECHO_MODES } from '../../protocol/common/setting-values.ts';
import type { Config } from '../../protocol/config.ts';

/** The machine's own microphone and loudspeaker, in place of the demo's files. */
export interface RealMic {
  /** ALSA device name, like `loudspeaker`. */
  readonly microphone: string;
  readonly loudspeaker: string;
  readonly echo: Config['lanes'][number]['echo'];
}

/** Default length of a demo with a microphone (ms): without a limit it would not end by itself. */
export const REAL_MIC_MS = 60_000;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The machine's default devices, or those that the variables of the first lane name.
 * @throws Failure for an echo mode that does not exist
 */
export function chooseRealMic(env: Environment): RealMic {
  const wanted = env['DRAGOMAN_LANES_0_ECHO'] || 'half-duplex';
  const echo = ECHO_MODES.find((mode) => mode === wanted);
  if (echo === undefined) {
    throw new Failure(
      `DRAGOMAN_LANES_0_ECHO must be ${ECHO_MODES.join(', ')}; it is "${wanted}".`,
      EXIT.usage,
    );
  }
  return {
    microphone: env['DRAGOMAN_LANES_0_CAPTURE_DEVICE'] || 'default',
    loudspeaker: env['DRAGOMAN_LANES_0_PLAYBACK_DEVICE'] || 'default',
    echo,
  };
}

/** Checks the devices before the demo starts. @throws Failure if one of them is not usable */
export async function checkRealMic({ microphone, loudspeaker }: RealMic, tools: AlsaTools): Promise<void> {
  const [offered, hears, speaks] = await Promise.all([
    tools.listSoftware('capture'),
    tools.askAbility('capture', microphone),
    tools.askAbility('playback', loudspeaker),
  ]);
  if (offered === null) {
    throw new Failure('--real-mic needs arecord and aplay: install the package alsa-utils.');
  }
  if (!hears.ok) throw unusable('microphone', microphone, 'CAPTURE', hears.reason);
  if (!speaks.ok) throw unusable('loudspeaker', loudspeaker, 'PLAYBACK', speaks.reason);
}

function unusable(part: string, device: string, variable: string, reason: string): Failure {
  return new Failure(
    `--real-mic: the ${part} "${device}" cannot be opened (${reason}). "dragoman devices" lists all devices; ` +
      `DRAGOMAN_LANES_0_${variable}_DEVICE selects another one. Without --real-mic no sound card is needed.`,
  );
}

const DEAF: PlaybackSink = { fault() {}, back() {}, missed() {}, measured() {} };

/** Also records everything that the loudspeaker plays. */
export function recordLoudspeaker(open: OpenPlayback, openRecording: OpenPlayback): OpenPlayback {
  return async (sink) => {
    const recording = await openRecording(DEAF);
    const playback = await open(sink);
    return {
      ...playback,
      write(pcm) {
        recording.write(pcm);
        return playback.write(pcm);
      },
      flush() {
        recording.flush();
        return playback.flush();
      },
      async close() {
        await Promise.all([recording.close(), playback.close()]);
      },
    };
  };
}
