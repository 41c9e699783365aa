import type { OpenPlayback } from '../../../ports/audio.ts';
import { type PlaybackChild, runPlayback } from '../child/playback.ts';
import { type AlsaOptions, createLadder } from './ladder.ts';
import { createCardMixer } from './mixer.ts';
import { createSetupReader } from './setup.ts';

const PERIOD_MS = 20;
/** Small, so that what aplay takes from its pipe tells the device's own pace; aplay itself is prompt. */
const BUFFER_MS = 100;
const START_LIMIT_MS = 5000;
/** From our write to the device's first sample. */
const LATENCY_MS = 2;
const MOST_ADJUSTMENTS = 8;

/** The playback driver `alsa`: aplay, supervised, and amixer for the volume. */
export function createAlsaPlayback(options: AlsaOptions): OpenPlayback {
  const { device, rateHz, world, seed } = options;
  return async (sink) => {
    const card = createCardMixer(device, world);
    await card.look();
    /** The news that it is back, which waits until the card's volume control is known again. */
    let news: (() => void) | null = null;
    const tell = (): void => {
      news?.();
      news = null;
    };
    const playback = runPlayback(
      aplay(device, rateHz),
      rateHz,
      {
        measured: (heardUntil) => sink.measured(heardUntil),
        fault(fault) {
          tell();
          sink.fault(fault);
        },
        back() {
          // A card that was not there may be another one, and one that was away has forgotten how loud it was.
          news = () => sink.back();
          void card.look().then(tell);
        },
      },
      world,
      seed,
    );
    return {
      ...playback,
      get mixer() {
        return card.mixer;
      },
      async close() {
        news = null;
        card.close();
        await playback.close();
      },
    };
  };
}

function aplay(device: string, rateHz: number): PlaybackChild {
  const ladder = createLadder(device, rateHz);
  let adjustments = 0;
  let setup = createSetupReader();
  const framesOf = (ms: number): string => String(Math.round((ms * ladder.rung.rateHz) / 1000));
  return {
    device: () => ({ part: 'playback', name: device, program: 'aplay' }),
    shape: () => ladder.rung,
    startLimitMs: START_LIMIT_MS,
    latencyMs: LATENCY_MS,
    spec() {
      setup = createSetupReader();
      const { rung } = ladder;
      const words = ['aplay', '-q', '-v', '-D', rung.device, '-t', 'raw', '-f', 'S16_LE'];
      words.push('-r', String(rung.rateHz), '-c', String(rung.channels));
      // Sound begins with the first period; without `-R` aplay waits for a full buffer.
      words.push(`--period-size=${framesOf(PERIOD_MS)}`, `--buffer-size=${framesOf(BUFFER_MS)}`, '-R', '1');
      return { words };
    },
    line(text) {
      const granted = setup.read(text);
      if (granted === null) return null;
      if (granted.rateHz !== ladder.rung.rateHz && adjustments < MOST_ADJUSTMENTS) {
        ladder.accept(granted.rateHz);
        adjustments++;
        return { kind: 'again' };
      }
      return { kind: 'ready', buffering: granted };
    },
    cure: (fault) => (fault.code === 'format' ? ladder.refuse() : null),
  };
}
