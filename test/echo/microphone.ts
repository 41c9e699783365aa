import { RATE_HZ } from '../voices/recordings.ts';

/** What a microphone makes of the sound that reaches it. */
export interface MicrophoneFaults {
  /** Turned up by so much; what is louder than full scale is cut off. */
  readonly overdriveDb?: number;
  /** Where its zero lies, of full scale. */
  readonly zeroAt?: number;
  /** It turns itself down as soon as it is louder than `toDb`, and up again slowly, by `mostDb` at most. */
  readonly automaticGain?: { readonly toDb: number; readonly mostDb: number };
}

/** Automatic gain falls within some 20 ms, and rises by 6 dB in two seconds. */
const ATTACK_S = 0.02;
const RISE_DB_PER_S = 3;
const LEVEL_S = 0.01;

/** One sample after the other. */
export function createMicrophone(faults: MicrophoneFaults): (sample: number) => number {
  const { overdriveDb = 0, zeroAt = 0, automaticGain } = faults;
  const gain = 10 ** (overdriveDb / 20);
  const follow = automaticGain === undefined ? () => 1 : createAutomaticGain(automaticGain);
  return (sample) => Math.max(-1, Math.min(1, sample * gain * follow(sample) + zeroAt));
}

function createAutomaticGain({ toDb, mostDb }: { toDb: number; mostDb: number }): (sample: number) => number {
  let power = 0;
  let gainDb = mostDb;
  return (sample) => {
    power += (sample * sample - power) / (LEVEL_S * RATE_HZ);
    const levelDb = 10 * Math.log10(power + 1e-12);
    const wantedDb = Math.max(0, Math.min(mostDb, toDb - levelDb));
    if (wantedDb < gainDb) gainDb += (wantedDb - gainDb) / (ATTACK_S * RATE_HZ);
    else gainDb = Math.min(wantedDb, gainDb + RISE_DB_PER_S / RATE_HZ);
    return 10 ** (gainDb / 20);
  };
}

/** Takes the zero out, so that what is left is sound; below 20 Hz there is nothing to hear. */
export function createZero(): (sample: number) => number {
  const kept = Math.exp((-2 * Math.PI * 20) / RATE_HZ);
  let [before, out] = [0, 0];
  return (sample) => {
    out = kept * (out + sample - before);
    before = sample;
    return out;
  };
}
