import { durationMs, samplesOf } from './pcm.ts';
import { addSums, clips, hasOffset, levelOf, NO_SOUND, peakOf, sumUp } from './sound-level.ts';

/**
 * Faults of a microphone that delivers sound. `incomplete`: a tenth or more of its sound is missing. `too_fast`, `too_slow`: its
 * clock does not match the requested rate. `silent`: only zeros, as from a switch or a mixer mute. `deaf`: it delivers a
 * little noise and does not even hear the loudspeaker; a quiet room alone is not a finding. `clipping`: its gain is too
 * high. `dc_offset`: its samples are not centred on zero. `noisy_room`: the lane keeps waking without speech (the lane
 * detects this itself). `gain_changed`: another program changes the card's gain (the driver detects this).
 */
export type CaptureFinding =
  | 'incomplete'
  | 'too_fast'
  | 'too_slow'
  | 'silent'
  | 'deaf'
  | 'clipping'
  | 'dc_offset'
  | 'gain_changed'
  | 'noisy_room';

export interface CaptureNews {
  readonly finding: CaptureFinding;
  /** False when the fault is over. */
  readonly present: boolean;
  /** Text for the owner, with figures. */
  readonly message: string;
}

/** Watches one opened microphone. Reports each finding once when it appears and once when it ends. */
export interface CaptureWatch {
  /** @param capturedAt when the last sample of the piece was captured */
  hear(pcm: Uint8Array, capturedAt: number): readonly CaptureNews[];
  /** The loudspeaker's sound, to detect a microphone that does not hear it. */
  played(pcm: Uint8Array): void;
  /** The microphone was closed or its recording ended: ends all findings. */
  end(): readonly CaptureNews[];
}

const SILENT_MS = 10_000;
/**
 * A microphone that went from zeros to sound this often has a noise gate. Its zeros count as silence only if it does not
 * hear the loudspeaker either, or after a time in which some noise would have opened the gate.
 */
const GATE = { closedMs: 500, openings: 3, silentMs: 600_000 };
/** A microphone is deaf if it delivers only converter noise (`peak`) during this much played sound. */
const DEAF = { playedMs: 30_000, peak: 4, audiblePeak: 1000 };
const LEVEL_WINDOW_MS = 10_000;
/**
 * Compares the time by samples with the time by the clock. Sound can arrive late but not early, so each window is measured
 * by its least delay. The median over the windows ignores a window with lost samples. An error above `coarse` is
 * worded as the share of sound that arrives. A missing share above `coarse` in two windows, or above `half` in one, means
 * lost sound, not a wrong clock.
 */
const SPEED = { windowMs: 10_000, windows: 7, from: 0.005, until: 0.003, coarse: 0.1, half: 0.5 };

/** @param playedRateHz of the loudspeaker's sound */
export function createCaptureWatch({
  rateHz,
  playedRateHz,
}: {
  rateHz: number;
  playedRateHz: number;
}): CaptureWatch {
  const present = new Set<CaptureFinding>();
  let news: CaptureNews[] = [];
  let zeroMs = 0;
  let openings = 0;
  let playedToDeafMs = 0;
  let level = NO_SOUND;
  let deliveredMs = 0;
  let window = { since: Number.NaN, least: Number.POSITIVE_INFINITY };
  let windows: readonly (typeof window)[] = [];

  const say = (finding: CaptureFinding, isPresent: boolean, message: string): void => {
    if (present.has(finding) === isPresent) return;
    if (isPresent) present.add(finding);
    else present.delete(finding);
    news.push({ finding, present: isPresent, message });
  };
  const flushNews = (): readonly CaptureNews[] => {
    const taken = news;
    news = [];
    return taken;
  };

  const hasGate = (): boolean => openings >= GATE.openings;
  const watchSilence = (peak: number, ms: number): void => {
    if (peak > 0 && zeroMs >= GATE.closedMs) openings += 1;
    zeroMs = peak === 0 ? zeroMs + ms : 0;
    if (zeroMs >= (hasGate() ? GATE.silentMs : SILENT_MS))
      say('silent', true, 'the microphone delivers digital silence: is it muted?');
    else if (peak > 0) say('silent', false, 'the microphone delivers sound again');
    if (peak <= DEAF.peak) return;
    playedToDeafMs = 0;
    say('deaf', false, 'the microphone hears again');
  };

  const windowSamples = (LEVEL_WINDOW_MS * rateHz) / 1000;
  const watchLevel = (): void => {
    // A clear verdict need not wait for the end of the window: echo cancellation needs it early.
    const isClipping = clips(level.clipped / Math.max(windowSamples, level.samples));
    const percent = ((level.clipped * 100) / Math.max(1, level.samples)).toFixed(1);
    if (isClipping === true)
      say('clipping', true, `${percent} % of the microphone's samples are at full scale: turn its gain down`);
    if (level.samples < windowSamples) return;
    const { offset } = levelOf(level);
    level = NO_SOUND;
    if (isClipping === false) say('clipping', false, 'the microphone does not clip any more');
    const isOff = hasOffset(offset);
    const offPercent = Math.round(offset * 100);
    if (isOff === true)
      say('dc_offset', true, `the microphone has a DC offset of ${offPercent} % of full scale`);
    else if (isOff === false) say('dc_offset', false, "the microphone's DC offset is gone");
  };

  /** @param missing share of missing sound in each of the last windows */
  const watchShare = (missing: readonly number[]): void => {
    const last = missing.at(-1) ?? 0;
    const isMissing =
      last >= SPEED.half || (missing.length > 1 && missing.every((one) => one >= SPEED.coarse));
    const comes = Math.round((1 - Math.min(1, last)) * 100);
    if (isMissing) say('incomplete', true, `the microphone delivers ${comes} % of the expected sound`);
    if (!present.has('incomplete') || last >= SPEED.coarse) return;
    say('incomplete', false, 'the microphone delivers all of its sound again');
    // Missing sound says nothing about the clock.
    windows = windows.slice(-1);
  };

  const watchSpeed = (capturedAt: number): void => {
    if (Number.isNaN(window.since)) window.since = capturedAt;
    window.least = Math.min(window.least, capturedAt - deliveredMs);
    if (capturedAt - window.since < SPEED.windowMs) return;
    windows = [...windows, window].slice(-SPEED.windows - 1);
    window = { since: capturedAt, least: Number.POSITIVE_INFINITY };
    // A window becomes longer if no sound arrives for a while.
    const missing = windows.slice(1).map(({ since, least }, index) => {
      const before = windows[index] ?? { since: 0, least };
      return (least - before.least) / (since - before.since);
    });
    watchShare(missing.slice(-2));
    if (windows.length <= SPEED.windows || present.has('incomplete')) return;
    const share = Math.min(1, missing.toSorted((a, b) => a - b)[SPEED.windows >> 1] ?? 0);
    const late = share / (1 - share);
    const delivers = (how: string): string =>
      Math.abs(late) >= SPEED.coarse
        ? `the microphone delivers ${Math.round((1 - share) * 100)} % of the expected sound`
        : `the microphone delivers ${(Math.abs(late) * 100).toFixed(1)} % too ${how} for its rate`;
    if (late >= SPEED.from) say('too_slow', true, delivers('slowly'));
    else if (late < SPEED.until) say('too_slow', false, 'the microphone delivers at the right speed again');
    if (-late >= SPEED.from) say('too_fast', true, delivers('fast'));
    else if (-late < SPEED.until) say('too_fast', false, 'the microphone delivers at the right speed again');
  };

  return {
    hear(pcm, capturedAt) {
      const samples = samplesOf(pcm);
      const ms = durationMs(pcm.byteLength, rateHz);
      const sums = sumUp(samples);
      level = addSums(level, sums);
      deliveredMs += ms;
      watchSilence(peakOf(sums), ms);
      watchLevel();
      watchSpeed(capturedAt);
      return flushNews();
    },
    played(pcm) {
      // Zeros without a noise gate are `silent`, a separate finding.
      if ((zeroMs > 0 && !hasGate()) || !samplesOf(pcm).some((sample) => Math.abs(sample) > DEAF.audiblePeak))
        return;
      playedToDeafMs += durationMs(pcm.byteLength, playedRateHz);
      if (playedToDeafMs >= DEAF.playedMs) {
        say('deaf', true, 'the microphone hears nothing, not even the loudspeaker: is it plugged in?');
      }
    },
    end() {
      for (const finding of [...present]) say(finding, false, 'the microphone is closed');
      return flushNews();
    },
  };
}
