import { BYTES_PER_SAMPLE } from './pcm.ts';

/** Chimes that the device plays. */
export const EARCONS = [
  'ready',
  'lost',
  'recovered',
  'muted',
  'unmuted',
  'identify',
  'turn_source',
  'turn_target',
  'still_there',
] as const;
export type Earcon = (typeof EARCONS)[number];

/** One tone of a chime. */
interface Tone {
  readonly hz: number;
  readonly fromMs: number;
  readonly lengthMs: number;
}

const tone = (hz: number, fromMs: number, lengthMs: number): Tone => ({ hz, fromMs, lengthMs });

/**
 * Chimes about the connection rise for good news and fall for bad. A single tone is about the microphone, lower when muted.
 * The short confirmations of a key press differ in pitch.
 */
const SCORES: Readonly<Record<Earcon, readonly Tone[]>> = {
  ready: [tone(523.25, 0, 220), tone(659.26, 110, 220), tone(783.99, 220, 240)],
  lost: [tone(440, 0, 240), tone(311.13, 180, 280)],
  recovered: [tone(440, 0, 220), tone(659.26, 140, 280)],
  muted: [tone(392, 0, 160)],
  unmuted: [tone(587.33, 0, 160)],
  turn_source: [tone(659.26, 0, 90)],
  turn_target: [tone(987.77, 0, 90)],
  still_there: [tone(523.25, 0, 200), tone(523.25, 260, 220)],
  identify: [tone(880, 0, 120), tone(880, 140, 120), tone(1318.51, 280, 200)],
};

/** Peak of a single tone: 20 dB below full scale. */
const PEAK = 3277;
/** Partials of a struck bar, with their share of the loudness. */
const PARTIALS = [
  { ratio: 1, share: 0.78 },
  { ratio: 2, share: 0.16 },
  { ratio: 3, share: 0.06 },
] as const;
const ATTACK_MS = 8;
const RELEASE_MS = 30;
/** A tone decays to a third in this share of its length. */
const DECAY_SHARE = 0.45;

/** Envelope of a tone, 0 to 1: rises fast, falls slowly, silent at both ends. */
function envelope(ms: number, lengthMs: number): number {
  const rise = Math.min(1, ms / ATTACK_MS);
  const release = Math.min(1, (lengthMs - ms) / RELEASE_MS);
  return rise * release * Math.exp(-ms / (DECAY_SHARE * lengthMs));
}

/** Length of a chime. */
export function earconMs(earcon: Earcon): number {
  return Math.max(...SCORES[earcon].map(({ fromMs, lengthMs }) => fromMs + lengthMs));
}

/** The sound of a chime, mono PCM. */
export function synthesizeEarcon(earcon: Earcon, rateHz: number): Uint8Array {
  const samples = Math.round((earconMs(earcon) * rateHz) / 1000);
  const sound = new Float64Array(samples);
  for (const { hz, fromMs, lengthMs } of SCORES[earcon]) {
    const first = Math.round((fromMs * rateHz) / 1000);
    const count = Math.min(samples - first, Math.round((lengthMs * rateHz) / 1000));
    for (const { ratio, share } of PARTIALS) {
      if (hz * ratio >= rateHz / 2) continue;
      const turn = (2 * Math.PI * hz * ratio) / rateHz;
      for (let i = 0; i < count; i++) {
        const gain = PEAK * share * envelope((i * 1000) / rateHz, lengthMs);
        sound[first + i] = (sound[first + i] as number) + gain * Math.sin(turn * i);
      }
    }
  }
  const pcm = new Uint8Array(samples * BYTES_PER_SAMPLE);
  const view = new DataView(pcm.buffer);
  for (const [i, value] of sound.entries()) view.setInt16(i * BYTES_PER_SAMPLE, Math.round(value), true);
  return pcm;
}
