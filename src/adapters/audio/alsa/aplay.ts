import type { OpenPlayback } from '../../../ports/audio.ts';
import { runPlayback } from '../child/playback.ts';
import type { PlaybackChild } from '../child/playback-child.ts';
import { type AlsaOptions, createFormatAttempts } from './format-attempts.ts';
import { createCardMixer } from './mixer.ts';
import { createSetupReader } from './setup.ts';

const PERIOD_MS = 20;
/** Buffer of the device (milliseconds), small so that aplay's reads from its pipe show the device's own pace. */
const BUFFER_MS = 100;
/** Buffer while the device keeps running between sounds (milliseconds), smaller so that the next sound is heard soon. */
const RUN_ON_BUFFER_MS = 60;
/** Delay from the write to the device's first sample (milliseconds). */
const LATENCY_MS = 2;
const MOST_ADJUSTMENTS = 8;

/** The playback driver `alsa`: aplay, supervised, and amixer for the volume. */
export function createAlsaPlayback(options: AlsaOptions): OpenPlayback {
  const { device, rateHz, deps, seed } = options;
  return async (sink) => {
    const card = createCardMixer(device, deps);
    await card.look();
    /** Reports a recovery; set while the card's volume control is looked up first. */
    let pending: (() => void) | null = null;
    const reportBack = (): void => {
      pending?.();
      pending = null;
    };
    const playback = runPlayback(
      aplay(device, rateHz),
      rateHz,
      {
        measured: (heardUntil) => sink.measured(heardUntil),
        missed: (ms) => sink.missed(ms),
        fault(fault) {
          reportBack();
          sink.fault(fault);
        },
        back() {
          // The card may be a different one, and a card that was unplugged has lost its volume.
          pending = () => sink.back();
          void card.look().then(reportBack);
        },
      },
      deps,
      seed,
    );
    return {
      ...playback,
      get place() {
        return playback.place;
      },
      get mixer() {
        return card.mixer;
      },
      async close() {
        pending = null;
        card.close();
        await playback.close();
      },
    };
  };
}

/**
 * The playback of a headset: aplay, supervised. It leaves the card's volume control as the owner has set it, because amixer may
 * come too late or fail: then the first word would have the volume of the last listener.
 */
export function createAlsaHeadset({ device, rateHz, deps, seed }: AlsaOptions): OpenPlayback {
  return async (sink) => runPlayback(aplay(device, rateHz), rateHz, sink, deps, seed);
}

function aplay(device: string, rateHz: number): PlaybackChild {
  const attempts = createFormatAttempts(device, rateHz);
  let adjustments = 0;
  let runsOn = false;
  let setup = createSetupReader();
  const framesOf = (ms: number): string => String(Math.round((ms * attempts.current.rateHz) / 1000));
  return {
    device: () => ({ part: 'playback', name: device, program: 'aplay', isServer: setup.isServer }),
    shape: () => attempts.current,
    latencyMs: LATENCY_MS,
    spec() {
      setup = createSetupReader();
      const { current } = attempts;
      const words = ['aplay', '-q', '-v', '-D', current.device, '-t', 'raw', '-f', 'S16_LE'];
      words.push('-r', String(current.rateHz), '-c', String(current.channels));
      // `-R`: sound begins with the first period; by default aplay waits for a full buffer.
      words.push(
        `--period-size=${framesOf(PERIOD_MS)}`,
        `--buffer-size=${framesOf(runsOn ? RUN_ON_BUFFER_MS : BUFFER_MS)}`,
        '-R',
        '1',
      );
      return { words };
    },
    readiness: {
      read(line) {
        const granted = setup.read(line);
        if (granted === null) return null;
        if (granted.rateHz !== attempts.current.rateHz && adjustments < MOST_ADJUSTMENTS) {
          attempts.accept(granted.rateHz);
          adjustments++;
          return { kind: 'again' };
        }
        return { kind: 'ready', buffering: { ...granted, isServer: setup.isServer } };
      },
    },
    runOn(on) {
      const isNew = on && !runsOn;
      // The short buffer stays when it is no longer needed: it does no harm.
      runsOn ||= on;
      return isNew ? 'again' : null;
    },
    alternative: (fault) => (fault.code === 'format' ? attempts.refuse() : null),
  };
}
