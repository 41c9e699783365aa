import { durationMs, samplesOf } from './pcm.ts';
import { addSums, clips, hasOffset, levelOf, NO_SOUND, peakOf, sumUp } from './sound-level.ts';

/**
 * What can be wrong with a microphone that delivers. `incomplete`: a tenth of its sound and more does not come. `too_fast`, `too_slow`: its clock is no clock of the rate that was
 * asked for. `silent`: nothing but zeros, as from a switch or a mute in the mixer. `deaf`: it delivers a whisper of noise and
 * does not even hear the loudspeaker; that nobody speaks in a quiet room is no finding. `clipping`: its gain is too high.
 * `dc_offset`: its zero is somewhere else. `noisy_room`: the lane keeps waking for what is no speech; that is found by the
 * lane itself. `gain_changed`: something else turns the card's gain, which its driver keeps.
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
  /** False: it is over. */
  readonly present: boolean;
  /** For the owner, with figures. */
  readonly message: string;
}

/** Watches one opened microphone. Each finding is told once when it comes and once when it goes. */
export interface CaptureWatch {
  /** @param capturedAt when the last sample of the piece was captured */
  hear(pcm: Uint8Array, capturedAt: number): readonly CaptureNews[];
  /** What the loudspeaker sounds meanwhile. */
  played(pcm: Uint8Array): void;
  /** The microphone is closed, or its recording has ended: whatever was found is over. */
  end(): readonly CaptureNews[];
}

const SILENT_MS = 10_000;
/**
 * A microphone that has gone from zeros to sound so often has a noise gate. Its zeros are silence only where it does not even
 * hear the loudspeaker, or after a time in which some noise would have opened it.
 */
const GATE = { closedMs: 500, openings: 3, silentMs: 600_000 };
/** This much of the loudspeaker's sound, without a sample above the noise of a converter, tells a deaf microphone. */
const DEAF = { playedMs: 30_000, peak: 4, audiblePeak: 1000 };
const LEVEL_WINDOW_MS = 10_000;
/**
 * Time by the samples against time by the clock. Sound can come late, but not early, so that the least delay in each
 * window is the measure; the median over the windows does not mind a window in which samples were lost. One that is off by more than `coarse` is
 * told by how much comes. Where that much does not come no clock is wrong: two windows tell, or one of which half is missing.
 */
const SPEED = { windowMs: 10_000, windows: 7, from: 0.005, until: 0.003, coarse: 0.1, half: 0.5 };

/** @param playedRateHz of what the loudspeaker sounds */
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
    const told = news;
    news = [];
    return told;
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
    // What is said of the whole window already holds, whatever is still to come: a canceller cannot wait for the end.
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
      say('dc_offset', true, `the microphone's zero is off by ${offPercent} % of full scale`);
    else if (isOff === false) say('dc_offset', false, "the microphone's zero is at zero again");
  };

  /** @param missing of the last windows */
  const watchShare = (missing: readonly number[]): void => {
    const last = missing.at(-1) ?? 0;
    const isMissing =
      last >= SPEED.half || (missing.length > 1 && missing.every((one) => one >= SPEED.coarse));
    const comes = Math.round((1 - Math.min(1, last)) * 100);
    if (isMissing)
      say('incomplete', true, `the microphone delivers ${comes} % of the sound that is due at its rate`);
    if (!present.has('incomplete') || last >= SPEED.coarse) return;
    say('incomplete', false, 'the microphone delivers all of its sound again');
    // What was missing tells nothing of its clock.
    windows = windows.slice(-1);
  };

  const watchSpeed = (capturedAt: number): void => {
    if (Number.isNaN(window.since)) window.since = capturedAt;
    window.least = Math.min(window.least, capturedAt - deliveredMs);
    if (capturedAt - window.since < SPEED.windowMs) return;
    windows = [...windows, window].slice(-SPEED.windows - 1);
    window = { since: capturedAt, least: Number.POSITIVE_INFINITY };
    // A window in which nothing came for a while is longer than it should be.
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
        ? `the microphone delivers ${Math.round((1 - share) * 100)} % of the sound that is due at its rate`
        : `the microphone delivers ${(Math.abs(late) * 100).toFixed(1)} % too ${how} for its rate`;
    if (late >= SPEED.from) say('too_slow', true, delivers('slowly'));
    else if (late < SPEED.until) say('too_slow', false, 'the microphone keeps time again');
    if (-late >= SPEED.from) say('too_fast', true, delivers('fast'));
    else if (-late < SPEED.until) say('too_fast', false, 'the microphone keeps time again');
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
      // A microphone that delivers zeros is silent, which is told apart.
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
