import { seededRandom } from '../../src/core/random.ts';

/**
 * A recording in which each moment can be identified, and a judge of the same recording after its way through sound cards.
 *
 * It plays the next of 192 tones every 160 ms. They repeat after 31 s, so that the output never equals the present input; otherwise the
 * agent would take it for an echo. All are multiples of 50 Hz, so that a window of 20 ms has whole periods of each. Neither other
 * tones nor the start of the window affect the measurement, and each tone keeps its phase from window to window.
 * Sound that was lost, repeated or stretched shows as a tone out of order or as a jump of the phase.
 *
 * Quiet noise is added. Pure tones are equal in each 20 ms, and above 1.6 kHz only the clicks between them are compared. There the
 * agent found an echo by chance several times a minute. After three agreeing finds, as with a recording that is played three
 * times, it would stay in half-duplex.
 */
export const RATE_HZ = 24_000;
const TONES = 192;
const LOWEST_HZ = 500;
const STEP_HZ = 50;
export const TONE_MS = 160;
const TONE_SAMPLES = (RATE_HZ * TONE_MS) / 1000;
const WINDOW_MS = 20;
/** Windows of one tone; more of them mean a repetition. */
const MOST_WINDOWS = TONE_MS / WINDOW_MS + 1;
const WINDOW = (RATE_HZ * WINDOW_MS) / 1000;
const AMPLITUDE = 8000;
/** Peak of the noise; its power is 23 dB below the tones. */
const NOISE = 700;
/** Level below which a window is silent (dBFS). */
const QUIET_DBFS = -50;
/** Share of a window's power that a tone needs to own the window. */
const CLEAR_SHARE = 0.9;
/** Phase change that counts as a jump (rad); 0.1 ms of the lowest tone is 0.3 rad. */
const PHASE_JUMP_RAD = 0.3;

/** One period of the cosine. A tone uses every nth sample, because a window has whole periods of each tone. */
const COSINE = Float64Array.from({ length: WINDOW }, (_, at) => Math.cos((2 * Math.PI * at) / WINDOW));

const hzOf = (tone: number): number => LOWEST_HZ + STEP_HZ * tone;

/** @param firstTone number of the first of the 192 tones */
export function makeTones(seconds: number, firstTone = 0): Int16Array {
  const samples = new Int16Array(Math.round(seconds * RATE_HZ));
  const next = seededRandom(firstTone);
  for (let at = 0; at < samples.length; at += 1) {
    const tone = (Math.floor(at / TONE_SAMPLES) + firstTone) % TONES;
    const noise = NOISE * (2 * next() - 1);
    samples[at] = AMPLITUDE * Math.sin((2 * Math.PI * hzOf(tone) * at) / RATE_HZ) + noise;
  }
  return samples;
}

export interface Judgement {
  /** Detected tones in order; -1 for silence between two of them. */
  readonly tones: readonly number[];
  /** Seconds from the first sound to the last. */
  readonly seconds: number;
  /** Tones that are missing between two detected ones. */
  readonly missing: number;
  /** Tones that were repeated, too long, or out of order. */
  readonly outOfOrder: number;
  /** Each of them, "after tone 41 tone 39, 60 ms". */
  readonly disorder: readonly string[];
  /** Silence between the first sound and the last. */
  readonly silentMs: number;
  /** The longest silence between two tones, and how many tones came before and after it. */
  readonly gap: { readonly ms: number; readonly before: number; readonly after: number };
  /** Phase jumps within a tone. */
  readonly phaseJumps: number;
  /** Median level of all windows with a tone. */
  readonly levelDbfs: number;
  /** Length of windows with neither a tone nor a change from one tone to the next. */
  readonly unclearMs: number;
}

interface Window {
  readonly tone: number | null;
  readonly phase: number;
  readonly dbfs: number;
}

export function judge(samples: Int16Array): Judgement {
  const all: Window[] = [];
  for (let at = 0; at + WINDOW <= samples.length; at += WINDOW) all.push(look(samples, at));
  const first = all.findIndex(({ dbfs }) => dbfs > QUIET_DBFS);
  const last = all.findLastIndex(({ dbfs }) => dbfs > QUIET_DBFS);
  const windows = first === -1 ? [] : all.slice(first, last + 1);
  const { tones, unclear } = inOrder(windows);
  let missing = 0;
  const disorder: string[] = [];
  // A tone interrupted by silence is still one tone.
  const heard = tones.filter(({ tone }) => tone >= 0);
  const whole: Run[] = [];
  for (const run of heard) {
    const before = whole.at(-1);
    if (before?.tone === run.tone) before.windows += run.windows;
    else whole.push({ ...run });
  }
  for (let at = 0; at < whole.length; at += 1) {
    const [before, now] = [whole[at - 1], whole[at]];
    if (now === undefined) continue;
    const lasts = `tone ${now.tone}, ${now.windows * WINDOW_MS} ms`;
    if (now.windows > MOST_WINDOWS) disorder.push(lasts);
    if (before === undefined) continue;
    const step = (now.tone - before.tone + TONES) % TONES;
    if (step > TONES / 2) disorder.push(`after tone ${before.tone} ${lasts}`);
    else missing += step - 1;
  }
  const levels = windows.flatMap(({ tone, dbfs }) => (tone === null ? [] : [dbfs])).sort((a, b) => a - b);
  return {
    tones: tones.map(({ tone }) => tone),
    seconds: (windows.length * WINDOW_MS) / 1000,
    missing,
    outOfOrder: disorder.length,
    disorder,
    silentMs: windows.filter(({ dbfs }) => dbfs <= QUIET_DBFS).length * WINDOW_MS,
    gap: longestGap(tones),
    phaseJumps: countPhaseJumps(windows),
    levelDbfs: levels[Math.floor(levels.length / 2)] ?? Number.NEGATIVE_INFINITY,
    unclearMs: unclear * WINDOW_MS,
  };
}

/** Zeros that are a gap: noise is added to the tones, so that they never have as many in a row. */
const GAP_SAMPLES = 48;

/** Seconds of sound without the gaps in it, to the sample: a window in which a gap begins or ends counts as sound. */
export function secondsOfSound(samples: Int16Array): number {
  let [sound, zeros] = [0, 0];
  for (const sample of samples) {
    zeros = sample === 0 ? zeros + 1 : 0;
    sound += 1;
    if (zeros === GAP_SAMPLES) sound -= GAP_SAMPLES;
    else if (zeros > GAP_SAMPLES) sound -= 1;
  }
  return sound / RATE_HZ;
}

interface Run {
  readonly tone: number;
  windows: number;
}

/** The tone of a window, if it has only one. */
function look(samples: Int16Array, from: number): Window {
  let power = 0;
  for (let at = from; at < from + WINDOW; at += 1) power += (samples[at] ?? 0) ** 2;
  power /= WINDOW;
  const dbfs = 10 * Math.log10(power / 32_768 ** 2);
  if (!(dbfs > QUIET_DBFS)) return { tone: null, phase: 0, dbfs: Math.max(dbfs, -120) };
  for (let tone = 0; tone < TONES; tone += 1) {
    const periods = (hzOf(tone) * WINDOW) / RATE_HZ;
    let [re, im] = [0, 0];
    for (let at = 0; at < WINDOW; at += 1) {
      const place = (periods * at) % WINDOW;
      re += (samples[from + at] ?? 0) * (COSINE[place] ?? 0);
      // The cosine shifted by a quarter period is the sine.
      im += (samples[from + at] ?? 0) * (COSINE[(place + (3 * WINDOW) / 4) % WINDOW] ?? 0);
    }
    const own = (2 * (re * re + im * im)) / WINDOW ** 2;
    if (own > CLEAR_SHARE * power) return { tone, phase: Math.atan2(im, re), dbfs };
  }
  return { tone: null, phase: 0, dbfs };
}

/** The sequence of tones. A window between two tones may contain both; further unclear windows are counted. */
function inOrder(windows: readonly Window[]): { tones: Run[]; unclear: number } {
  const tones: Run[] = [];
  let [unclear, run] = [0, 0];
  for (const { tone, dbfs } of windows) {
    const now = tone ?? (dbfs <= QUIET_DBFS ? -1 : null);
    if (now === null) {
      run += 1;
      if (run > 1) unclear += run === 2 ? 2 : 1;
      continue;
    }
    run = 0;
    const last = tones.at(-1);
    if (last?.tone === now) last.windows += 1;
    else tones.push({ tone: now, windows: 1 });
  }
  return { tones, unclear };
}

function longestGap(tones: readonly Run[]): Judgement['gap'] {
  const silences = tones.filter(({ tone }) => tone === -1);
  const longest = silences.sort((a, b) => b.windows - a.windows)[0];
  if (longest === undefined) return { ms: 0, before: tones.length, after: 0 };
  const heard = tones.filter((run) => run.tone >= 0 || run === longest);
  const before = heard.indexOf(longest);
  return { ms: longest.windows * WINDOW_MS, before, after: heard.length - before - 1 };
}

/** Compares with the last clear window of the same tone, because the window with the jump is not clear itself. */
function countPhaseJumps(windows: readonly Window[]): number {
  let jumps = 0;
  let before: Window | null = null;
  for (const now of windows) {
    if (now.tone === null) continue;
    if (now.tone === before?.tone) {
      const turn = Math.abs(now.phase - before.phase);
      if (Math.min(turn, 2 * Math.PI - turn) > PHASE_JUMP_RAD) jumps += 1;
    }
    before = now;
  }
  return jumps;
}
