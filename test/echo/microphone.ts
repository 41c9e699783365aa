import { RATE_HZ } from '../voices/recordings.ts';

/** Imperfections of a microphone. */
export interface MicrophoneFaults {
  /** Gain; louder sound than full scale is clipped. */
  readonly overdriveDb?: number;
  /** DC offset (share of full scale). */
  readonly zeroAt?: number;
  /** Automatic gain: falls at once above `toDb`, rises slowly, by at most `mostDb`. */
  readonly automaticGain?: { readonly toDb: number; readonly mostDb: number };
}

/** Automatic gain falls within some 20 ms, and rises by 6 dB in two seconds. */
const ATTACK_S = 0.02;
const RISE_DB_PER_S = 3;
const LEVEL_S = 0.01;

/** Makes a function that processes one sample after the other. */
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

/** Removes a DC offset with a high-pass of 20 Hz, below which there is no audible sound. */
export function createZero(): (sample: number) => number {
  const kept = Math.exp((-2 * Math.PI * 20) / RATE_HZ);
  let [before, out] = [0, 0];
  return (sample) => {
    out = kept * (out + sample - before);
    before = sample;
    return out;
  };
}
