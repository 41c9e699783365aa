/** Decodes ITU-T G.722 at 64 kbit/s, which sox and Node cannot. A byte is two samples at 16 kHz. */

const STEP_DOWN = [-60, -30, 58, 172, 334, 538, 1198, 3042];
const LOW_CLASS = [0, 7, 6, 5, 4, 3, 2, 1, 7, 6, 5, 4, 3, 2, 1, 0];
const INVERSE_LOG = [
  2048, 2093, 2139, 2186, 2233, 2282, 2332, 2383, 2435, 2489, 2543, 2599, 2656, 2714, 2774, 2834, 2896, 2960,
  3025, 3091, 3158, 3228, 3298, 3371, 3444, 3520, 3597, 3676, 3756, 3838, 3922, 4008,
];
const HIGH_STEP = [0, -214, 798];
const HIGH_CLASS = [2, 1, 2, 1];
const HIGH_LEVELS = [-7408, -1616, 7408, 1616];
const LOW_LEVELS_4 = [
  0, -20456, -12896, -8968, -6288, -4240, -2584, -1200, 20456, 12896, 8968, 6288, 4240, 2584, 1200, 0,
];
const LOW_LEVELS_6 = [
  -136, -136, -136, -136, -24808, -21904, -19008, -16704, -14984, -13512, -12280, -11192, -10232, -9360,
  -8576, -7856, -7192, -6576, -6000, -5456, -4944, -4464, -4008, -3576, -3168, -2776, -2400, -2032, -1688,
  -1360, -1040, -728, 24808, 21904, 19008, 16704, 14984, 13512, 12280, 11192, 10232, 9360, 8576, 7856, 7192,
  6576, 6000, 5456, 4944, 4464, 4008, 3576, 3168, 2776, 2400, 2032, 1688, 1360, 1040, 728, 432, 136, -432,
  -136,
];
const MIRROR_FILTER = [3, -11, 12, 32, -210, 951, 3876, -805, 362, -156, 53, -11];

const at = (values: ArrayLike<number>, index: number): number => values[index] ?? 0;
const limit = (value: number, low: number, high: number): number => Math.max(low, Math.min(high, value));
const saturate = (value: number): number => limit(value, -32_768, 32_767);

/** One half of the spectrum: an adaptive predictor and its step size. */
class Band {
  /** The predicted next value. */
  expected = 0;
  step: number;
  private fromZeros = 0;
  private logStep = 0;
  private readonly rebuilt = [0, 0, 0];
  private readonly partial = [0, 0, 0];
  private readonly poles = [0, 0, 0];
  private readonly zeros = [0, 0, 0, 0, 0, 0, 0];
  private readonly differences = [0, 0, 0, 0, 0, 0, 0];

  constructor(step: number) {
    this.step = step;
  }

  scale(change: number, highest: number, shift: number): void {
    this.logStep = limit(((this.logStep * 127) >> 7) + change, 0, highest);
    const mantissa = at(INVERSE_LOG, (this.logStep >> 6) & 31);
    const exponent = shift - (this.logStep >> 11);
    this.step = (exponent < 0 ? mantissa << -exponent : mantissa >> exponent) << 2;
  }

  learn(difference: number): void {
    const { rebuilt, partial, poles, zeros, differences } = this;
    differences[0] = difference;
    rebuilt[0] = saturate(this.expected + difference);
    partial[0] = saturate(this.fromZeros + difference);
    const second = this.nextSecondPole();
    const first = this.nextFirstPole(second);
    const size = difference === 0 ? 0 : 128;
    for (let index = 6; index >= 1; index--) {
      const alike = at(differences, index) >> 15 === difference >> 15;
      zeros[index] = saturate((alike ? size : -size) + ((at(zeros, index) * 32_640) >> 15));
    }
    for (let index = 6; index >= 1; index--) differences[index] = at(differences, index - 1);
    for (let index = 2; index >= 1; index--) {
      rebuilt[index] = at(rebuilt, index - 1);
      partial[index] = at(partial, index - 1);
    }
    poles[1] = first;
    poles[2] = second;
    this.predict();
  }

  private nextSecondPole(): number {
    const [now = 0, before = 0, earlier = 0] = this.partial.map((value) => value >> 15);
    const first = saturate(at(this.poles, 1) << 2);
    const turned = Math.min(32_767, now === before ? -first : first);
    const drift = (turned >> 7) + (now === earlier ? 128 : -128);
    return limit(drift + ((at(this.poles, 2) * 32_512) >> 15), -12_288, 12_288);
  }

  private nextFirstPole(second: number): number {
    const alike = at(this.partial, 0) >> 15 === at(this.partial, 1) >> 15;
    const next = saturate((alike ? 192 : -192) + ((at(this.poles, 1) * 32_640) >> 15));
    const most = saturate(15_360 - second);
    return limit(next, -most, most);
  }

  private predict(): void {
    const { rebuilt, poles, zeros, differences } = this;
    const pole = (index: number): number =>
      (at(poles, index) * saturate(at(rebuilt, index) + at(rebuilt, index))) >> 15;
    let sum = 0;
    for (let index = 6; index >= 1; index--) {
      sum += (at(zeros, index) * saturate(at(differences, index) * 2)) >> 15;
    }
    this.fromZeros = saturate(sum);
    this.expected = saturate(saturate(pole(1) + pole(2)) + this.fromZeros);
  }
}

/** @returns samples at 16 kHz, full scale 1 */
export function decodeG722(bytes: Uint8Array): Float32Array {
  const low = new Band(32);
  const high = new Band(8);
  const history = new Array<number>(24).fill(0);
  const sound = new Float32Array(bytes.length * 2);
  for (const [index, code] of bytes.entries()) {
    const fine = code & 0x3f;
    const coarse = fine >> 2;
    const below = limit(low.expected + ((low.step * at(LOW_LEVELS_6, fine)) >> 15), -16_384, 16_383);
    const lowDifference = (low.step * at(LOW_LEVELS_4, coarse)) >> 15;
    low.scale(at(STEP_DOWN, at(LOW_CLASS, coarse)), 18_432, 8);
    low.learn(lowDifference);
    const top = (code >> 6) & 3;
    const highDifference = (high.step * at(HIGH_LEVELS, top)) >> 15;
    const above = limit(highDifference + high.expected, -16_384, 16_383);
    high.scale(at(HIGH_STEP, at(HIGH_CLASS, top)), 22_528, 10);
    high.learn(highDifference);
    history.splice(0, 2);
    history.push(below + above, below - above);
    let odd = 0;
    let even = 0;
    for (let tap = 0; tap < 12; tap++) {
      even += at(history, 2 * tap) * at(MIRROR_FILTER, tap);
      odd += at(history, 2 * tap + 1) * at(MIRROR_FILTER, 11 - tap);
    }
    sound[2 * index] = saturate(odd >> 11) / 32_768;
    sound[2 * index + 1] = saturate(even >> 11) / 32_768;
  }
  return sound;
}
